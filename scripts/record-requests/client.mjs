/** Sends the requests of record-requests.mjs, and keeps values of answers for later requests. */
import { request } from 'node:http';

/** One request over a connection of its own; the path is sent unchanged. */
export function send(origin, { method, path, headers, body }) {
  const { hostname, port } = new URL(origin);
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const options = { hostname, port, method, path, headers: { ...headers, ...length }, agent: false };
    const sent = request(options, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString() }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function formText(form) {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) for (const one of [value].flat()) fields.append(name, one);
  return fields.toString();
}

/** The body of a request and its type. */
export function payload({ json, form, body }) {
  if (json !== undefined) return { type: 'application/json', body: JSON.stringify(json) };
  if (form) return { type: 'application/x-www-form-urlencoded', body: formText(form) };
  return { body };
}

/** Values of earlier answers that later requests of a stage use as `{{name}}`. */
export function createMemory() {
  const values = {};
  const jars = {};
  const fill = (text) => text.replace(/\{\{(\w+)\}\}/g, (_, name) => values[name] ?? `unknown-${name}`);
  return {
    fill: (value) => (value === undefined ? undefined : JSON.parse(fill(JSON.stringify(value)))),
    cookies: (jar) =>
      Object.entries(jars[jar] ?? {})
        .map((pair) => pair.join('='))
        .join('; '),
    learn({ keep, keepNext, keepRecord, jar }, { headers, text }) {
      if (headers.etag) values.etag = headers.etag.replaceAll('"', '\\"');
      if (keep) values[keep] = JSON.parse(text).id;
      if (keepNext)
        values[keepNext] = new URL(/<([^>]*)>/.exec(headers.link)?.[1] ?? 'x:/').href.replace(/^\w+:\/\/[^/]*/, '');
      if (keepRecord) values[keepRecord] = /\/record\/([^/?]+)$/.exec(headers.location ?? '')?.[1];
      const token = /name="_csrf" value="([^"]*)"/.exec(text)?.[1];
      if (jar && token) values.csrf = token;
      for (const cookie of jar ? (headers['set-cookie'] ?? []) : []) {
        const [, name, value] = /^([^=]*)=([^;]*)/.exec(cookie);
        jars[jar] = { ...jars[jar], [name]: value };
      }
    },
  };
}
