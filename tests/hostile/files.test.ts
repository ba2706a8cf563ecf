import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { formBody, type Part } from '../forms/files/send';
import { configured } from '../support/configure';
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
/** Bytes that files may have together while they wait for their forms: a sender has 8 MB, 1 MB of them is safe. */
const KEPT = 64 * MB;
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
    'apps/paged/settings.yaml': "acl: { rights: { editor: ['*'] } }\n",
    'apps/paged/blocks/form.yaml': `pages: [{ title: One, elements: [cv] }, { title: Two, elements: [name] }]
elements: { cv: { type: FILE }, name: { type: TEXT, required: true } }
`,
    'apps/paged/blocks/form.html': '{_pages}',
  });
  for (const file of ['a.css', 'layout.html', 'inside.html', 'link.html', 'blocks/inside.html'])
    await writeFiles(at('outside'), { [file]: SECRET });
  await mkdir(at('system'));
  host = await startHost({
    themesDirectory: at('themes'),
    env: {
      ...configured({ apps: { temporaryDirectory: at('kept'), limits: { keptSize: KEPT } } }),
      APPS_THEME: 'main',
      TMPDIR: at('system'),
      IS_PROXIED: 'true',
    },
  });
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

/** The page of a form with pages that is answered to a visitor with this address. */
async function sendPage(address: string, fields: Record<string, string>, file?: number) {
  const texts = Object.entries(fields).map(([name, content]): Part => ({ name, content }));
  const sent: Part[] = file ? [{ name: 'cv', file: 'cv.txt', content: Buffer.alloc(file, 'A line.\n') }] : [];
  const first = await send(host.url, {
    method: 'GET',
    path: '/site/@@apps/paged',
    headers: { accept: 'application/json' },
  });
  const answer = await fetch(`${host.url}/site/@@apps/paged/blocks/form`, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      accept: 'text/html',
      'content-type': 'multipart/form-data; boundary=b',
      'x-csrf-token': String(first.headers['x-csrf-token']),
      'x-forwarded-for': address,
    },
    body: formBody([...sent, ...texts]) as BodyInit,
  });
  const text = await answer.text();
  const [, entry = ''] = /name="cv"[^>]* value="(kept:[^"]+)"/.exec(text) ?? [];
  return {
    status: answer.status,
    entry,
    asksAgain: text.includes('choose the file again'),
    location: answer.headers.get('location'),
  };
}

/** A file that waits for the second page. */
const begun = (address: string, size = MB / 2) => sendPage(address, { _page: '0', _next: '1' }, size);

/** Saves the form, and returns the file of its record. */
async function finished(address: string, entry: string): Promise<unknown> {
  const saved = await sendPage(address, { cv: entry, name: 'Ann', _page: '1', _seen: '0,1', _save: '1' });
  expect(saved.status).toBe(303);
  const { json } = await send<{ cv: unknown }>(host.url, {
    method: 'GET',
    path: new URL(String(saved.location)).pathname,
    headers: { accept: 'application/json' },
  });
  return json.cv;
}

const refusedForm = (address: string, size: number) =>
  sendPage(address, { _page: '1', _seen: '0,1', _save: '1' }, size).then(({ status }) => status);

test('files that wait for their forms are safe from one address, and leave room for others', async () => {
  await besideOthers(async () => {
    const before = await begun('198.51.100.7');
    expect([before.status, before.entry]).toEqual([200, expect.stringContaining('kept:')]);
    // Eighteen times 7 MB are twice the room of all.
    const refused = await Promise.all(Array.from({ length: 18 }, () => refusedForm('203.0.113.5', 7 * MB)));
    expect(new Set(refused)).toEqual(new Set([422]));
    const beside = await begun('192.0.2.9');
    expect([beside.status, beside.asksAgain]).toEqual([200, false]);
    expect(await finished('198.51.100.7', before.entry)).toMatchObject({ name: 'cv.txt', size: MB / 2 });
    expect(await finished('192.0.2.9', beside.entry)).toMatchObject({ name: 'cv.txt', size: MB / 2 });
  });
}, 240_000);

test('a file that waits for its form is safe for minutes from any number of addresses', async () => {
  const before = await begun('2001:db8:1:1::7');
  // Each network has as much as is safe, all together more than there is room for.
  for (let network = 0; network < 80; network += 8)
    await Promise.all(Array.from({ length: 8 }, (_, at) => refusedForm(`2001:db8:f:${network + at}::1`, MB)));
  const late = await begun('192.0.2.10', MB);
  expect([late.status, late.asksAgain]).toEqual([422, true]);
  expect(await finished('2001:db8:1:1::8', before.entry)).toMatchObject({ name: 'cv.txt', size: MB / 2 });
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
