import { allWritten } from './output';
import { runProgram } from './program';

// A reader such as `head` may end before the output does: the command goes on, for its exit code.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });

// The processes of the server's parts do not keep this one alive while it waits for them.
setInterval(() => undefined, 60_000);
runProgram(process.argv.slice(2)).then(async (code) => {
  await allWritten();
  // What a host has started may keep the process alive.
  process.exit(code);
});
