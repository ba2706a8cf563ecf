/**
 * What an uploaded picture costs. `node benchmarks/pictures.mjs [rounds]`: a photo of 2 MB sent by a form, beside the same photo
 * sent to Strapi's own `/api/upload`, which works on it in the server's process: the time of the answer, and how long the server's
 * thread does nothing else. `node benchmarks/pictures.mjs --largest`: pictures of 50,000,000 pixels of each kind that Strapi works on, by the form: time of the
 * answer, processor time and memory of the process that works on them.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeFiles } from '../scripts/files.mjs';
import { build, root } from '../scripts/prepare.mjs';
import { memoryOf, processorTime, startHost } from './support/host.mjs';

const { values: options, positionals } = parseArgs({
  options: { largest: { type: 'boolean', default: false }, kind: { type: 'string' } },
  allowPositionals: true,
});
const rounds = Number(positionals[0] ?? 15);
const work = mkdtempSync(join(tmpdir(), 'apps-bench-'));
const strapi = createRequire(join(root, 'package.json')).resolve('@strapi/strapi/package.json');
const sharp = createRequire(createRequire(strapi).resolve('@strapi/upload/package.json'))('sharp');

writeFiles(join(work, 'themes', 'bench', 'apps', 'bench'), {
  'settings.yaml': 'acl: { rights: { submitter: ["*"] } }\n',
  'blocks/form.html': '{photo} {_save}',
  'blocks/form.yaml': 'elements:\n  photo: { type: FILE, max_size: 100 MB, accept: [image/*] }\n',
});

/** A picture of noise, which no encoder makes small. @param detail pixels of one grain of it */
const noise = (width, height, detail, channels = 3) =>
  sharp(randomBytes(Math.ceil(width / detail) * Math.ceil(height / detail) * channels), {
    raw: { width: Math.ceil(width / detail), height: Math.ceil(height / detail), channels },
  }).resize(width, height, { kernel: 'nearest', fit: 'fill' });
const frames = async (count, side) =>
  sharp(
    await Promise.all(
      Array.from({ length: count }, () => noise(side, side, 20).png({ compressionLevel: 1 }).toBuffer()),
    ),
    { join: { animated: true } },
  );

/** Pictures of 50,000,000 pixels. */
const largest = {
  jpeg: () => noise(7_071, 7_071, 4).jpeg().toBuffer(),
  'progressive jpeg': () => noise(7_071, 7_071, 4).jpeg({ progressive: true }).toBuffer(),
  png: () => noise(7_071, 7_071, 4).png({ compressionLevel: 3 }).toBuffer(),
  'png of one colour': () => noise(7_071, 7_071, 7_071).png().toBuffer(),
  webp: () => noise(7_071, 7_071, 20).webp({ effort: 0 }).toBuffer(),
  tiff: () => noise(7_071, 7_071, 4).tiff({ compression: 'lzw' }).toBuffer(),
  gif: () => noise(7_071, 7_071, 20).gif({ effort: 1 }).toBuffer(),
  'animated gif': async () => (await frames(50, 1_000)).gif({ effort: 1 }).toBuffer(),
  'animated webp': async () => (await frames(50, 1_000)).webp({ effort: 0 }).toBuffer(),
};

/** The process of the host that works on pictures: the last one that runs its worker program. */
function pictureProcess(pid) {
  const read = (id, file) => {
    try {
      return readFileSync(`/proc/${id}/${file}`, 'utf8');
    } catch {
      return '';
    }
  };
  return readdirSync('/proc').find(
    (id) =>
      /^\d+$/.test(id) &&
      read(id, 'status').includes(`PPid:\t${pid}\n`) &&
      read(id, 'cmdline').includes('allow-addons') &&
      read(id, 'cmdline').includes('worker.js'),
  );
}

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const mega = (bytes) => (bytes / 1024 ** 2).toFixed(1);

build('pluginServer', 'host');
const host = await startHost(
  { DATABASE_CLIENT: 'sqlite', DATABASE_FILENAME: join(work, 'data.db') },
  join(work, 'themes'),
);
try {
  await host.run(async (strapi) => {
    const role = await strapi.db.query('plugin::users-permissions.role').findOne({ where: { type: 'public' } });
    await strapi.db
      .query('plugin::users-permissions.permission')
      .create({ data: { action: 'plugin::upload.content-api.upload', role: role.id } });
    globalThis.lateness = require('node:perf_hooks').monitorEventLoopDelay({ resolution: 2 });
    globalThis.lateness.enable();
  });
  const lateness = () =>
    host.run(() => {
      const longest = globalThis.lateness.max / 1e6;
      globalThis.lateness.reset();
      return longest;
    });
  const block = `${host.url}/site/@@apps/bench/blocks/form`;
  const token = (await fetch(`${host.url}/site/@@apps/bench`)).headers.get('x-csrf-token');

  /** Sends a picture. @param way `form` or `strapi` */
  async function send(way, content) {
    const form = new FormData();
    form.append(way === 'form' ? 'photo' : 'files', new Blob([content]), 'photo.jpg');
    if (way === 'form') form.append('_save', '1');
    await lateness();
    const began = performance.now();
    const answer = await fetch(way === 'form' ? block : `${host.url}/api/upload`, {
      method: 'POST',
      headers: way === 'form' ? { accept: 'application/json', 'x-csrf-token': token } : {},
      body: form,
    });
    const text = await answer.text();
    return { status: answer.status, text, took: performance.now() - began, pause: await lateness() };
  }

  if (options.largest) {
    for (const [kind, make] of Object.entries(largest)) {
      if (options.kind && options.kind !== kind) continue;
      const content = await make();
      let [most, used] = [0, 0];
      const timer = setInterval(() => {
        const id = pictureProcess(host.pid);
        if (!id) return;
        most = Math.max(most, memoryOf(id));
        used = Math.max(used, processorTime(id));
      }, 50);
      const { status, text, took, pause } = await send('form', content);
      clearInterval(timer);
      const outcome = status === 201 ? '' : `, ${text.slice(0, 200)}`;
      console.log(
        `${kind}, ${mega(content.length)} MB: status ${status} after ${(took / 1000).toFixed(1)} s, processor ${used.toFixed(1)} s, memory ${most.toFixed(0)} MB, longest pause of the server ${pause.toFixed(0)} ms${outcome}`,
      );
    }
  } else {
    const photo = await noise(4_000, 3_000, 9).jpeg({ quality: 84 }).toBuffer();
    const results = { strapi: [], form: [] };
    for (const way of ['strapi', 'form']) console.log(`${way}, first: ${(await send(way, photo)).took.toFixed(0)} ms`);
    for (let round = 0; round < rounds; round += 1)
      for (const way of ['strapi', 'form']) results[way].push(await send(way, photo));
    for (const [way, list] of Object.entries(results)) {
      const statuses = [...new Set(list.map(({ status }) => status))];
      console.log(
        `${way}, ${mega(photo.length)} MB, status ${statuses}: median ${median(list.map(({ took }) => took)).toFixed(0)} ms, longest pause of the server ${Math.max(...list.map(({ pause }) => pause)).toFixed(0)} ms`,
      );
    }
  }
} finally {
  await host.stop();
  rmSync(work, { recursive: true, force: true });
}
process.exit(0);
