/** Load by autocannon, with exact latencies: its own histogram has whole milliseconds only. */
import { createRequire } from 'node:module';
import { packageFolder } from '../peers/places.mjs';
import { quantile } from './statistics.mjs';

const require = createRequire(import.meta.url);

let sent = 0;

/** A request in whose body `[<id>]` stands for another number each time. */
function numbered(request) {
  if (!request.body?.includes('[<id>]')) return request;
  const setupRequest = (last) => {
    sent += 1;
    return { ...last, body: request.body.replaceAll('[<id>]', sent) };
  };
  return { ...request, setupRequest };
}

/** Seconds after which a load ends in any case. */
const patience = 60;

/**
 * Sends the requests in turn, over each of the connections, for some seconds, and until there are more answers than connections.
 * @param requests `{method, path, headers, body}` each; `body` is text, in which `[<id>]` is another number in each request
 * @returns answers a second, milliseconds at the median and at the 99th percentile, and the number of answers
 * @throws when an answer has a status other than 2xx, or a connection fails
 */
export async function load(url, requests, { connections, seconds }) {
  const autocannon = require(packageFolder('tools', 'autocannon'));
  const times = [];
  const failures = {};
  const began = performance.now();
  let first;
  let last;
  const options = { connections, duration: patience, timeout: patience, sampleInt: 50 };
  const run = autocannon({ url, requests: requests.map(numbered), ...options });
  const over = () => performance.now() - began >= seconds * 1000 && times.length > connections;
  const timer = setTimeout(() => over() && run.stop(), seconds * 1000);
  run.on('response', (_client, status, _bytes, time) => {
    times.push(time);
    last = performance.now();
    first ??= last;
    if (status >= 300) failures[status] = (failures[status] ?? 0) + 1;
    if (over()) run.stop();
  });
  const { errors } = await run;
  clearTimeout(timer);
  if (errors > 0 || Object.keys(failures).length > 0 || times.length < 2)
    throw new Error(`${times.length} answers, ${errors} errors, statuses ${JSON.stringify(failures)}`);
  return {
    // From the first answer on: opening connections is no part of it.
    rate: (times.length - 1) / ((last - first) / 1000),
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    answers: times.length,
  };
}
