import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeFiles } from '../support/files';
import { type Host, startHost } from '../support/host';
import { send } from '../support/send';
import { upload } from '../support/upload';

/**
 * Attacks by files: links out of the theme that are swapped in while they are requested, and uploads. As with the other
 * attacks, a second process requests a healthy block every 40 ms.
 */
const requests = 2_500;
const MB = 1024 * 1024;
const SECRET = 'outside of the theme';
let folder: string;
let host: Host;
let prober: ChildProcess;

const at = (...names: string[]) => path.join(folder, ...names);
const inTheme = (...names: string[]) => at('themes', 'main', ...names);

async function ask(message: 'reset' | 'report'): Promise<{ slowest: number; failed: string[] }> {
  const answer = once(prober, 'message');
  prober.send(message);
  return (await answer)[0];
}

/** Runs `work`, and checks that the second process was answered all the time. */
async function besideOthers(work: () => Promise<void>): Promise<void> {
  const late: number[] = [];
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await ask('reset');
    await work();
    const { slowest, failed } = await ask('report');
    expect(failed).toEqual([]);
    if (slowest <= 500) return;
    late.push(slowest);
  }
  expect(late).toEqual([]);
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'apps-files-'));
  await writeFiles(inTheme(), {
    'layout.html': '<html><head><title>t</title></head><body>own {{ main }}</body></html>',
    'assets/a.css': 'own',
    'assets/deep/a.css': 'own',
    'apps/app/assets/a.css': 'own',
    'apps/app/blocks/link.html': '<p>own</p>',
    'apps/app/blocks/healthy.html': '<p>own</p>',
    'apps/moved/blocks/inside.html': '<p>own</p>',
  });
  for (const file of ['a.css', 'layout.html', 'inside.html', 'link.html', 'blocks/inside.html'])
    await writeFiles(at('outside'), { [file]: SECRET });
  await mkdir(at('system'));
  host = await startHost({ themesDirectory: at('themes'), env: { APPS_THEME: 'main', TMPDIR: at('system') } });
  prober = fork(
    path.join(__dirname, 'attacks', 'prober.cjs'),
    [`${host.url}/site/@@theme/main/apps/app/assets/a.css`],
    { execArgv: [] },
  );
});
afterAll(async () => {
  prober?.kill('SIGKILL');
  await host?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('links out of the theme are never followed while they are swapped in', async () => {
  const swaps = [
    { kind: 'file', path: inTheme('assets/a.css'), target: at('outside/a.css') },
    { kind: 'folder', path: inTheme('assets/deep'), target: at('outside') },
    { kind: 'file', path: inTheme('layout.html'), target: at('outside/layout.html') },
    { kind: 'file', path: inTheme('apps/app/blocks/link.html'), target: at('outside/link.html') },
    { kind: 'folder', path: inTheme('apps/moved'), target: at('outside') },
  ];
  const paths = [
    '/site/@@theme/main/assets/a.css',
    '/site/@@theme/main/assets/deep/a.css',
    '/site/@@apps/app/blocks/link',
    '/site/@@apps/moved/blocks/inside',
    '/site/',
  ];
  const swapper = fork(path.join(__dirname, '..', 'support', 'swap.cjs'), [JSON.stringify(swaps)], { execArgv: [] });
  await once(swapper, 'message');
  const seen = new Map<string, { own: number; none: number; other: string[] }>();
  let asked = 0;
  const client = async () => {
    while (asked < requests) {
      const file = paths[asked++ % paths.length] as string;
      const { status, text } = await send(host.url, { method: 'GET', path: file, headers: { accept: '*/*' } });
      const counts = seen.get(file) ?? { own: 0, none: 0, other: [] };
      seen.set(file, counts);
      if (text.includes(SECRET) || (status !== 200 && status !== 404)) counts.other.push(`${status} ${text}`);
      else if (status === 200 && text.includes('own')) counts.own += 1;
      else counts.none += 1;
    }
  };
  try {
    await Promise.all(Array.from({ length: 8 }, client));
  } finally {
    swapper.kill('SIGKILL');
    await once(swapper, 'exit');
  }
  console.log([...seen].map(([file, { own, none }]) => `${file}: ${own} of ${own + none}`).join('\n'));
  for (const [file, { own, none, other }] of seen) {
    expect(other.slice(0, 3), file).toEqual([]);
    expect(own, file).toBeGreaterThan(none / 10);
  }
}, 240_000);

test('uploads of many clients at once leave no files, and block no other client', async () => {
  const port = Number(new URL(host.url).port);
  const anywhere = ['/site/@@apps/app', '/site/@@apps/app/blocks/healthy', '/site/@@login', '/site/none'];
  await besideOthers(async () => {
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, n) =>
        upload({
          port,
          path: anywhere[n % 4] as string,
          size: 120 * MB,
          chunked: n % 3 === 0,
          leaveAt: n % 5 === 0 ? MB : undefined,
        }),
      ),
    );
    expect([...new Set(answers.filter((_, n) => n % 5 !== 0).map(({ status }) => status))]).toEqual([413]);
    // Node's cache, and the empty folder in which the plugin's processes work.
    const expected = /^(node-compile-cache|apps-empty-)/;
    const left = (await readdir(at('system'))).filter((name) => !expected.test(name));
    expect(left).toEqual([]);
  });
}, 240_000);

test.runIf(process.platform === 'linux')(
  'clients that leave in the middle of a file leave no descriptor open',
  async () => {
    await writeFiles(inTheme(), { 'assets/large.bin': 'x'.repeat(8 * MB) });
    const pid = await host.run(() => process.pid);
    const open = async () => {
      const descriptors = await readdir(`/proc/${pid}/fd`);
      const links = await Promise.all(descriptors.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
      return links.filter((link) => link.endsWith('large.bin')).length;
    };
    const leave = (method: string, headers: string) =>
      new Promise<void>((done) => {
        const socket = connect(Number(new URL(host.url).port), '127.0.0.1');
        socket.write(`${method} /site/@@theme/main/assets/large.bin HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);
        socket.once('data', () => socket.destroy());
        socket.on('error', () => {});
        socket.on('close', () => done());
      });
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(Array.from({ length: 20 }, (_, n) => leave(n % 4 === 0 ? 'HEAD' : 'GET', '')));
    }
    await expect.poll(open, { timeout: 10_000 }).toBe(0);
    const whole = await send(host.url, { method: 'GET', path: '/site/@@theme/main/assets/large.bin' });
    expect([whole.status, whole.text.length]).toEqual([200, 8 * MB]);
    const headers = { 'if-none-match': String(whole.headers.etag) };
    const known = await send(host.url, { method: 'GET', path: '/site/@@theme/main/assets/large.bin', headers });
    expect([known.status, await open()]).toEqual([304, 0]);
  },
  120_000,
);
