/**
 * The memory of the server while a visitor uploads one large file by a form, against the same form without a file, in the same
 * process. `npm run bench:uploads [megabytes]`. Prints the megabytes of memory before, and at most during each request.
 *
 * Goal: the file adds no more than 32 MB, whatever its size.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { writeFiles } from '../scripts/files.mjs';
import { build, root } from '../scripts/prepare.mjs';
import { memoryOf, startHost } from './support/host.mjs';

const megabytes = Number(process.argv[2] ?? 500);
const work = mkdtempSync(join(tmpdir(), 'apps-bench-'));
const boundary = `----${randomBytes(12).toString('hex')}`;

function makeTheme() {
  writeFiles(join(work, 'themes', 'bench', 'apps', 'bench'), {
    'settings.yaml': 'acl: { rights: { submitter: ["*"] } }\n',
    'blocks/form.html': '{name} {file} {_save}',
    'blocks/form.yaml': `elements:\n  name: TEXT\n  file: { type: FILE, max_size: ${megabytes + 1} MB, accept: [text/plain] }\n`,
  });
}

const field = (name, value) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

/** A form with a text file of this many megabytes; without a file for 0. */
function* body(token, size) {
  // The same fields again would be the same request.
  yield Buffer.from(field('_csrf', token) + field('name', randomBytes(6).toString('hex')) + field('_save', '1'));
  if (size > 0) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="large.txt"\r\n`;
    yield Buffer.from(`${head}Content-Type: text/plain\r\n\r\n`);
    const piece = Buffer.from('A line of a large text file.\n'.repeat(36_158).slice(0, 1024 * 1024));
    for (let sent = 0; sent < size; sent += 1) yield piece;
    yield Buffer.from('\r\n');
  }
  yield Buffer.from(`--${boundary}--\r\n`);
}

async function post(url, token, size) {
  const sending = request(url, {
    method: 'POST',
    headers: { accept: 'text/html', 'content-type': `multipart/form-data; boundary=${boundary}` },
  });
  const answered = new Promise((done, failed) => {
    sending.on('response', (response) => {
      response.resume();
      response.on('end', () => done(response.statusCode));
    });
    sending.on('error', failed);
  });
  await pipeline(Readable.from(body(token, size)), sending);
  return answered;
}

/** Runs a request, and looks at the memory every 20 ms. */
async function watched(pid, work) {
  let most = memoryOf(pid);
  const timer = setInterval(() => (most = Math.max(most, memoryOf(pid))), 20);
  try {
    return { status: await work(), most };
  } finally {
    clearInterval(timer);
  }
}

build('pluginServer', 'host');
makeTheme();
const host = await startHost(
  {
    DATABASE_CLIENT: 'sqlite',
    DATABASE_FILENAME: join(work, 'data.db'),
    NODE_OPTIONS: `--require ${join(root, 'tests', 'support', 'configure.cjs')}`,
    TEST_APPS_CONFIG: JSON.stringify({ limits: { uploadSize: (megabytes + 100) * 1024 * 1024 } }),
  },
  join(work, 'themes'),
);
try {
  // Strapi's own bound for a file of its media library.
  await host.run(
    (strapi, size) => void strapi.config.set('plugin::upload.sizeLimit', size),
    (megabytes + 10) * 2 ** 20,
  );
  const block = `${host.url}/site/@@apps/bench/blocks/form`;
  const token = (await fetch(`${host.url}/site/@@apps/bench`)).headers.get('x-csrf-token');
  // The trap against spam wants some time between the form and its post.
  await fetch(block, { headers: { accept: 'text/html' } });
  await new Promise((done) => setTimeout(done, 4_000));
  for (let warm = 0; warm < 20; warm += 1) await post(block, token, 0);
  for (const size of [0, 1, megabytes]) {
    const before = memoryOf(host.pid);
    const { status, most } = await watched(host.pid, () => post(block, token, size));
    console.log(
      `${String(size).padStart(4)} MB: status ${status}, memory ${before.toFixed(0)} MB before, ${most.toFixed(0)} MB at most`,
    );
  }
} finally {
  await host.stop();
  rmSync(work, { recursive: true, force: true });
}
