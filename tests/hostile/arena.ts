import { cpus } from 'node:os';
import path from 'node:path';
import { type Host, startHost } from '../support/host';
import { grantRole } from '../support/seed';
import { type Answer, send } from '../support/send';
import type { Case } from './cases/case';
import { appOf, type HostileTheme, writeTheme } from './theme';

/** Milliseconds that logic may take on this host. */
export const limit = 1500;

export interface Result {
  answer: Answer;
  /** Milliseconds. */
  time: number;
  /** Processors that nothing has used meanwhile, on average. */
  idle: number;
}

/** Milliseconds of all processors together in which they had nothing to do. */
const idleTime = () => cpus().reduce((sum, { times }) => sum + times.idle, 0);

export interface Arena {
  theme: HostileTheme;
  /** Sends a case's request. `json`: as JSON although it has an address of its own. */
  call(one: Omit<Case, 'status'> & { json?: boolean }): Promise<Result>;
  /** Megabytes and process ids of the host's runners. */
  runners(): Promise<{ id: number; memory: number }[]>;
  /** The longest delay of the server's event loop, in milliseconds, since the last call. */
  stillness(): Promise<number>;
  /** Everything the host has printed. */
  output(): string;
  close(): Promise<void>;
}

/** For Node.js's measure of how late timers are, in the host. */
type Watched = typeof globalThis & { lateness: { max: number; enable(): void; reset(): void } };

async function fill(host: Host): Promise<void> {
  await grantRole(host, 'Public', ['api::article.article.find', 'api::article.article.findOne']);
  await host.run(async (strapi) => {
    const articles = strapi.documents('api::article.article');
    const data = { slug: 'one', title: 'One', secret: 'top-secret', tiles: [] };
    await articles.create({ data, status: 'published' } as never);
    await articles.create({ data: { ...data, slug: 'draft', title: 'Draft' }, status: 'draft' } as never);
    const { monitorEventLoopDelay } = process.getBuiltinModule('node:perf_hooks');
    (globalThis as Watched).lateness = monitorEventLoopDelay({ resolution: 5 });
    (globalThis as Watched).lateness.enable();
  });
}

function runnersOf(host: Host): Promise<{ id: number; memory: number }[]> {
  return host.run(() => {
    const { readdirSync, readFileSync } = process.getBuiltinModule('node:fs');
    const read = (id: string, file: string) => {
      try {
        return readFileSync(`/proc/${id}/${file}`, 'utf8');
      } catch {
        return '';
      }
    };
    return readdirSync('/proc')
      .filter((id) => /^\d+$/.test(id) && read(id, 'cmdline').includes('runner.js'))
      .filter((id) => read(id, 'status').includes(`PPid:\t${process.pid}\n`))
      .map((id) => ({ id: Number(id), memory: Number(/VmRSS:\s+(\d+)/.exec(read(id, 'status'))?.[1] ?? 0) / 1024 }));
  });
}

/** A host whose theme has a block for every case. */
export async function openArena(corpus: readonly Case[]): Promise<Arena> {
  const theme = await writeTheme(corpus);
  const config = { themesDirectory: theme.directory, limits: { logicTime: limit } };
  const preload = path.join(__dirname, '..', 'support', 'configure.cjs');
  const host = await startHost({
    themesDirectory: theme.directory,
    env: {
      // Elsewhere each request looks at all files of the theme: with these hundreds, for 40 ms.
      NODE_ENV: 'production',
      APPS_THEME: 'main',
      NODE_OPTIONS: `--require ${preload}`,
      TEST_APPS_CONFIG: JSON.stringify(config),
    },
  });
  await fill(host);
  const first = await send(host.url, { method: 'GET', path: '/site/@@apps/hostile' });
  const csrf = String(first.headers['x-csrf-token']);
  return {
    theme,
    async call({
      name,
      definition,
      content = '',
      path = '/f',
      form,
      address,
      json,
      method = path === '' || address ? 'GET' : 'POST',
    }) {
      const [begin, idle] = [performance.now(), idleTime()];
      const answer = await send(host.url, {
        method,
        path: address ?? `/site${content}/@@apps/${appOf({ name, definition })}/blocks/${name}${path}`,
        headers: {
          accept: (path === '' || address) && !json ? 'text/html' : 'application/json',
          ...(method === 'POST' ? { 'x-csrf-token': csrf } : {}),
        },
        form,
      });
      const time = performance.now() - begin;
      return { answer, time, idle: (idleTime() - idle) / time };
    },
    runners: () => runnersOf(host),
    stillness: () =>
      host.run(() => {
        const { lateness } = globalThis as Watched;
        const longest = lateness.max / 1e6;
        lateness.reset();
        return longest;
      }),
    output: () => host.output(),
    async close() {
      await host.stop();
      await theme.dispose();
    },
  };
}
