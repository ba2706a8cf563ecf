import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { writeFiles } from '../../support/files';
import { type Host, startHost } from '../../support/host';
import { apiToken, grantRole } from '../../support/seed';
import { type Message, send } from '../../support/send';
import type { Attack, AttackArena, Attempt, HealthyRequest } from './attack';

/** Files of the theme that every attack finds: an app for the attacks and a healthy one. */
const themeFiles: Record<string, string> = {
  'theme.yaml': 'title: Attacked\n',
  'layout.html': '<!doctype html><html><head><title>t</title></head><body><main>{{ main }}</main></body></html>',
  'templates/article.html': '<article><h1>{{ context.content.title }}</h1>{{ context.content.body | raw }}</article>',
  'apps/attack/settings.yaml': "debug: true\nacl:\n  rights:\n    editor: ['*']\n",
  'apps/healthy/settings.yaml': "acl:\n  rights:\n    editor: ['*']\n",
  'apps/healthy/blocks/block.js': 'export const f = ({ app }) => app.count() >= 0;\n',
  'apps/healthy/blocks/block.yaml': 'elements: { f: BASIC }\n',
};

/** Milliseconds until a host in production mode sees a changed file. */
const seen = 2_000;

const healthyBlock: HealthyRequest = { method: 'GET', path: '/site/@@apps/healthy/blocks/block/f' };

interface Report {
  slowest: number;
  failed: string[];
}

/** @param token the CSRF token of its requests */
function probe(origin: string, token: string) {
  const child: ChildProcess = fork(path.join(__dirname, 'prober.cjs'), [origin, token], { execArgv: [] });
  const ask = async (message: { requests?: readonly HealthyRequest[] }): Promise<Report> => {
    const answer = once(child, 'message');
    child.send(message);
    return (await answer)[0] as Report;
  };
  return {
    reset: (requests: readonly HealthyRequest[]) => ask({ requests }),
    report: () => ask({}),
    stop: () => child.kill('SIGKILL'),
  };
}

/** Articles of the host are readable by anyone; one of them is a page that is healthy. */
async function fill(host: Host): Promise<void> {
  await grantRole(host, 'Public', ['api::article.article.find', 'api::article.article.findOne']);
  await host.run(async (strapi) => {
    const data = { slug: 'healthy', title: 'Healthy', body: '<p>Body</p>', tiles: [] };
    await strapi.documents('api::article.article').create({ data, status: 'published' } as never);
  });
}

export interface ArenaOptions {
  /** More environment of the host, e.g. of another database. */
  env?: Record<string, string>;
  /** The host looks for changed files once a second, not at each request. */
  production?: boolean;
}

/** A host with an empty theme, and a second process that requests a healthy block all the time. */
export async function openArena({ env = {}, production = false }: ArenaOptions = {}): Promise<AttackArena> {
  const directory = await mkdtemp(path.join(tmpdir(), 'apps-attacks-'));
  const theme = path.join(directory, 'main');
  await writeFiles(theme, themeFiles);
  const host = await startHost({
    themesDirectory: directory,
    env: {
      APPS_THEME: 'main',
      NODE_OPTIONS: `--expose-gc --require ${path.join(__dirname, '..', '..', 'support', 'configure.cjs')}`,
      TEST_RELATED: 'true',
      TEST_LOGIC_TIME: '2000',
      ...(production ? { NODE_ENV: 'production' } : {}),
      ...env,
    },
  });
  await fill(host);
  const first = await send(host.url, { method: 'GET', path: '/site/@@apps/attack' });
  const manager = { bearer: await apiToken(host, { name: 'manager', type: 'full-access' }) };
  const token = String(first.headers['x-csrf-token']);
  const prober = probe(host.url, token);
  let attempts = 0;
  let present: Record<string, string> = {};

  const sendJson: AttackArena['send'] = ({ headers, ...message }) =>
    send(host.url, {
      method: 'POST',
      path: '/site/@@apps/attack',
      headers: { accept: 'application/json', 'x-csrf-token': token, ...headers },
      ...message,
    });

  /** Replaces the files of the last attempt, and waits until the host sees that. Many attacks have the same files. */
  async function place(files: Record<string, string>): Promise<void> {
    if (isDeepStrictEqual(files, present)) return;
    for (const file of Object.keys(present)) if (!(file in files)) await rm(path.join(theme, file), { force: true });
    if ('layout.html' in present) await writeFiles(theme, { 'layout.html': themeFiles['layout.html'] ?? '' });
    await writeFiles(theme, files);
    present = files;
    if (production) await pause(seen);
  }

  async function attempt(attack: Attack): Promise<Attempt> {
    attempts += 1;
    const id = `${attack.name}-${attempts}`;
    await attack.prepare?.({ host, send: sendJson });
    const block = attack.block && { yaml: 'elements: { f: BASIC }\n', ...attack.block };
    const own = Object.entries(block ?? {}).map(([ending, text]) => [`apps/attack/blocks/${id}.${ending}`, text]);
    const files: Record<string, string> = { ...Object.fromEntries(own), ...attack.files };
    // The healthy client needs the files too.
    if (attack.healthy) await place({ ...attack.files });
    await pause(100);
    await prober.reset([healthyBlock, ...(attack.healthy ?? [])]);
    await place(files);
    const requests = attack.requests ?? [{ path: '/site/@@apps/attack/blocks/{id}/f' }];
    const answers = await Promise.all(requests.map((request) => timed(attack, id, request)));
    await pause(100);
    const { slowest, failed } = await prober.report();
    return { answers, slowest, failed };
  }

  async function timed(attack: Attack, id: string, request: Partial<Message>) {
    const begin = performance.now();
    const timeout = (attack.within ?? 3_000) + 60_000;
    const path = request.path?.replaceAll('{id}', id);
    const message = { ...request, ...(attack.byManager ? { as: manager } : {}), ...(path ? { path } : {}) };
    const answer = await Promise.race([sendJson(message), pause(timeout)]);
    if (!answer) throw new Error(`No answer within ${timeout} ms`);
    return { answer, time: performance.now() - begin };
  }

  return {
    host,
    send: sendJson,
    attempt,
    memory: () =>
      host.run(() => {
        // A collection gives pages back that the one before it has emptied.
        for (let count = 0; count < 3; count += 1) (globalThis as { gc?: () => void }).gc?.();
        return process.memoryUsage().rss / 1024 / 1024;
      }),
    async close() {
      prober.stop();
      await host.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
