/** A server as a child process on its core, and its last words when it fails. */
import { spawn } from 'node:child_process';

/**
 * Starts a program, and waits until its address answers.
 * @param options `command` from `onCore`, `args` of Node.js, its `env`, `cwd`, and `url`, which answers when it is ready
 * @returns its process id and `stop`
 * @throws with the end of what it printed when it ends, or does not answer within two minutes
 */
export async function startProcess({ command, node = process.execPath, args, env, cwd, url }) {
  const [program, ...all] = command(node, args);
  const child = spawn(program, all, { cwd, env: { ...process.env, NODE_ENV: 'production', ...env } });
  process.once('exit', () => child.kill('SIGKILL'));
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      printed = (printed + text).slice(-2_000);
    });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await new Promise((done) => child.once('exit', done));
  };
  const until = performance.now() + 120_000;
  for (;;) {
    const ready = await fetch(url).then(
      () => true,
      () => false,
    );
    if (ready) return { pid: child.pid, stop };
    if (child.exitCode !== null || performance.now() > until) {
      await stop();
      throw new Error(`does not start: ${printed.trim().slice(-500)}`);
    }
    await new Promise((done) => setTimeout(done, 100));
  }
}
