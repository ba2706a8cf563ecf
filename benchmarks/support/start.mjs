/** Starts the servers that are asked for, each on each of its databases. One that does not start is named with the reason. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { servers } from '../servers/index.mjs';

const firstLines = (error) => error.message.split('\n').slice(0, 3).join(' ');

/**
 * @param options `servers`, `databases`: names; `names`: collections; `work`: an empty folder; `postgres`: from startPostgres, or
 *   the reason why there is none; `command`: `onCore`; `say`: prints a line
 * @returns `{running, failed}`: servers with `{name, database, title, url, pid, requests, stop}`, and `{title, reason}`
 */
export async function startServers({ servers: wanted, databases, names, work, postgres, command, say }) {
  const running = [];
  const failed = [];
  for (const name of wanted)
    for (const kind of servers[name].databases.filter((one) => databases.includes(one))) {
      const title = `${servers[name].title}, ${kind === 'sqlite' ? 'SQLite' : 'PostgreSQL'}`;
      const began = performance.now();
      try {
        const folder = join(work, `${name}-${kind}`);
        mkdirSync(folder, { recursive: true });
        if (kind === 'postgres' && typeof postgres === 'string') throw new Error(postgres);
        const database =
          kind === 'sqlite' ? { kind, filename: join(folder, 'data.db') } : await postgres.create(`bench_${name}`);
        const server = await servers[name].start({ database, folder, command, names });
        running.push({ ...servers[name], ...server, name, database: kind, title });
        say(`${title}: started, with its records, after ${((performance.now() - began) / 1000).toFixed(0)} s`);
      } catch (error) {
        say(`${title}: cannot run: ${firstLines(error)}`);
        failed.push({ title, reason: firstLines(error) });
      }
    }
  return { running, failed };
}
