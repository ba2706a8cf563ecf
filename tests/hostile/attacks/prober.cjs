/** A process of its own that requests an address every 40 ms; the message `reset` restarts its count, `report` returns it. */
const http = require('node:http');

const url = process.argv[2];
const interval = 40;
let slowest = 0;
let failed = [];
let asked = 0;
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
  const request = http.get(url, { agent: false, headers: { accept: 'application/json' } }, (response) => {
    response.resume();
    response.on('end', () => done(response.statusCode === 200 ? null : String(response.statusCode)));
  });
  request.on('error', (error) => done(error.code ?? error.message));
}

setInterval(ask, interval);

process.on('message', (message) => {
  if (message === 'reset') {
    slowest = 0;
    failed = [];
    asked = 0;
    return process.send({ reset: true });
  }
  // A request that has no answer yet counts with the time that it has waited.
  const waiting = Math.max(0, ...[...open].map((begin) => performance.now() - begin));
  process.send({ slowest: Math.max(slowest, waiting), failed, asked });
});
process.on('disconnect', () => process.exit(0));
