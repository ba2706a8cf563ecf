/**
 * A process of its own that requests its addresses, one every 40 ms; the message `reset` restarts its count, `report` returns it.
 * An address of an element is asked as JSON, others as pages.
 */
const http = require('node:http');

const urls = process.argv.slice(2);
const interval = 40;
let slowest = 0;
let failed = [];
let asked = 0;
let next = 0;
const open = new Set();

function ask() {
  const begin = performance.now();
  open.add(begin);
  const done = (problem) => {
    if (!open.delete(begin)) return;
    asked += 1;
    slowest = Math.max(slowest, performance.now() - begin);
    if (problem) failed.push(problem);
  };
  const url = urls[next++ % urls.length];
  const accept = url.includes('/blocks/') ? 'application/json' : 'text/html';
  const request = http.get(url, { agent: false, headers: { accept } }, (response) => {
    response.resume();
    response.on('end', () => done(response.statusCode === 200 ? null : `${response.statusCode} at ${url}`));
  });
  request.on('error', (error) => done(error.code ?? error.message));
}

setInterval(ask, interval);

process.on('message', (message) => {
  if (message === 'reset') {
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
