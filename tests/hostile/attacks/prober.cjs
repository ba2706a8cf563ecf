/**
 * A process of its own that sends one of its requests every 40 ms, in turn; a message with `requests` sets them and restarts its
 * count, one without returns it.
 */
const http = require('node:http');

const [, , origin, token] = process.argv;
const interval = 40;
let requests = [];
let next = 0;
let slowest = 0;
let failed = [];
let asked = 0;
/** Requests that may wait for their answers: more would make later ones late. */
const MAX_OPEN = 50;
const open = new Set();

function ask() {
  if (requests.length === 0 || open.size >= MAX_OPEN) return;
  const { method, path, headers, json } = requests[next % requests.length];
  next += 1;
  const begin = performance.now();
  open.add(begin);
  const done = (problem) => {
    if (!open.delete(begin)) return;
    asked += 1;
    slowest = Math.max(slowest, performance.now() - begin);
    if (problem) failed.push(`${problem} to ${method} ${path}`);
  };
  const body = json && JSON.stringify(json);
  const own = {
    accept: 'application/json',
    ...(body && { 'content-type': 'application/json', 'x-csrf-token': token }),
  };
  const options = { agent: false, method, headers: { ...own, ...headers } };
  const request = http.request(`${origin}${path}`, options, (response) => {
    response.resume();
    response.on('end', () => done([200, 201].includes(response.statusCode) ? null : String(response.statusCode)));
  });
  request.on('error', (error) => done(error.code ?? error.message));
  request.end(body);
}

setInterval(ask, interval);

process.on('message', (message) => {
  if (message.requests) {
    requests = message.requests;
    slowest = 0;
    failed = [];
    asked = 0;
    // What was asked before does not count.
    open.clear();
    return process.send({ reset: true });
  }
  // A request that has no answer yet counts with the time that it has waited.
  const waiting = Math.max(0, ...[...open].map((begin) => performance.now() - begin));
  process.send({ slowest: Math.max(slowest, waiting), failed, asked });
});
process.on('disconnect', () => process.exit(0));
