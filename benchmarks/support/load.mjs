/** A small HTTP load generator on bare sockets, so that the load costs less than what it measures. */
import { connect } from 'node:net';

/** Bytes of a request. */
export function requestText({ method = 'GET', path, headers = {}, body = '' }) {
  const all = { Host: '127.0.0.1', ...headers, ...(body ? { 'Content-Length': Buffer.byteLength(body) } : {}) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** Removes complete answers from the beginning of the received bytes; returns the rest. */
function takeAnswers(text, onAnswer) {
  let rest = text;
  for (;;) {
    const head = rest.indexOf('\r\n\r\n');
    if (head < 0) return rest;
    const top = rest.slice(0, head);
    const length = /content-length: (\d+)/i.exec(top);
    let end = head + 4;
    if (length) end += Number(length[1]);
    else if (/transfer-encoding: chunked/i.test(top)) {
      const last = rest.indexOf('\r\n0\r\n\r\n', head);
      if (last < 0) return rest;
      end = last + 7;
    }
    if (rest.length < end) return rest;
    onAnswer(Number(top.slice(9, 12)));
    rest = rest.slice(end);
  }
}

/**
 * Sends requests over `connections` connections, one after the other on each, until `seconds` are over or `count` are sent.
 * @param next the bytes of the next request
 * @returns answers by status, and the seconds it took
 */
export async function load(url, next, { connections = 10, seconds = 2, count = Number.POSITIVE_INFINITY }) {
  const { hostname, port } = new URL(url);
  const statuses = {};
  const began = performance.now();
  const until = began + seconds * 1000;
  let sent = 0;
  let answered = 0;
  const one = () =>
    new Promise((done, failed) => {
      const socket = connect(Number(port), hostname);
      let text = '';
      const send = () => {
        if (sent >= count || performance.now() > until) return socket.end();
        sent += 1;
        socket.write(next());
      };
      socket.setEncoding('latin1').setNoDelay(true);
      socket.on('connect', send).on('error', failed).on('close', done);
      socket.on('data', (part) => {
        text = takeAnswers(text + part, (status) => {
          answered += 1;
          statuses[status] = (statuses[status] ?? 0) + 1;
          send();
        });
      });
    });
  await Promise.all(Array.from({ length: connections }, one));
  return { statuses, answered, seconds: (performance.now() - began) / 1000 };
}
