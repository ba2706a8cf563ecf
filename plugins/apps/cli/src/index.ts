import { runProgram } from './program';

const flushed = (stream: NodeJS.WriteStream) => new Promise<void>((done) => stream.write('', () => done()));

// A reader such as `head` may end before the output does: the command goes on, for its exit code.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });

// The processes of the server's parts do not keep this one alive while it waits for them.
setInterval(() => undefined, 60_000);
runProgram(process.argv.slice(2)).then(async (code) => {
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  // What a host has started may keep the process alive.
  process.exit(code);
});
