import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from '../../../scripts/server-process.mjs';
import { repository } from '../../support/theme';

const files = path.join(repository, 'deploy', 'prometheus');

/** Whether a program of Debian's package prometheus is there; its absence is said loudly. */
export function hasProgram(name: string): boolean {
  try {
    execFileSync('which', [name], { stdio: 'ignore' });
    return true;
  } catch {
    const line = '!'.repeat(100);
    console.warn(`${line}\n! ${name} is not installed: WHAT IT CHECKS IS NOT TESTED\n${line}`);
    return false;
  }
}

/** What `promtool` says of a text. Throws with its output when it refuses it. */
export const promtool = (args: string[], input?: string): string =>
  execFileSync('promtool', args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] });

/** A Prometheus with the repository's own configuration, which scrapes a host and evaluates the rules each second. */
export async function startPrometheus(folder: string, host: string, token: string) {
  const port = await freePort();
  const config = (await readFile(path.join(files, 'prometheus.yml'), 'utf8'))
    .replace('127.0.0.1:1337', new URL(host).host)
    .replace('scrape_interval: 15s', 'scrape_interval: 1s\n  evaluation_interval: 1s');
  await writeFile(path.join(folder, 'prometheus.yml'), config);
  await writeFile(path.join(folder, 'alerts.yml'), await readFile(path.join(files, 'alerts.yml')));
  await writeFile(path.join(folder, 'metrics-token'), token);
  const child: ChildProcess = spawn('prometheus', [
    `--config.file=${path.join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${path.join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]);
  const ended = new Promise((done) => child.once('exit', done));
  /** The result of a part of Prometheus's HTTP interface; null while it does not answer. */
  const get = async <T>(address: string): Promise<T | null> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${address}`).catch(() => null);
    const body = (await answer?.json().catch(() => null)) as { status: string; data: T; error?: string } | null;
    if (body?.error) throw new Error(body.error);
    return body?.data ?? null;
  };
  return {
    get,
    query: async (expression: string) =>
      (
        await get<{ result: { metric: Record<string, string>; value: [number, string] }[] }>(
          `query?query=${encodeURIComponent(expression)}`,
        )
      )?.result ?? [],
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
