/** A process of its own that requests addresses in turns, one every 40 ms; the message `reset` restarts its count, `report` returns it. */
const http = require('node:http');

const urls = process.argv.slice(2);
const interval = 40;
/** Requests that may wait for their answers: more would make later ones late. */
const MAX_OPEN = 50;
let slowest = 0;
let failed = [];
let asked = 0;
let sent = 0;
const open = new Set();

function ask() {
  if (open.size >= MAX_OPEN) return;
  const begin = performance.now();
  const url = urls[sent % urls.length];
  sent += 1;
  open.add(begin);
  const done = (problem) => {
    if (!open.delete(begin)) return;
    asked += 1;
    slowest = Math.max(slowest, performance.now() - begin);
    if (problem) failed.push(problem);
  };
  const request = http.get(
    url,
    { agent: false, headers: { accept: url.includes('/@@apps/') ? 'application/json' : 'text/html' } },
    (response) => {
      response.resume();
      response.on('end', () => done(response.statusCode === 200 ? null : String(response.statusCode)));
    },
  );
  request.on('error', (error) => done(error.code ?? error.message));
}

setInterval(ask, interval);

process.on('message', (message) => {
  if (message === 'reset') {
    slowest = 0;
    failed = [];
    asked = 0;
    // What was asked before, such as while an attack was prepared, does not count.
    open.clear();
    return process.send({ reset: true });
  }
  // A request that has no answer yet counts with the time that it has waited.
  const waiting = Math.max(0, ...[...open].map((begin) => performance.now() - begin));
  process.send({ slowest: Math.max(slowest, waiting), failed, asked });
});
process.on('disconnect', () => process.exit(0));
