/**
 * Records by command line, on the database of this host, while its server may run or not (docs/operations.md):
 *
 *   npm run apps -- export <site> <app> <file>    all records of an app, as NDJSON, or as CSV to a file named *.csv
 *   npm run apps -- import <site> <app> <file>    the same back; a record that is there already, the same, is passed over
 *   npm run apps:check [-- --repair]              compares records and indexes; ends with 1 when something is wrong
 */
import { createReadStream, createWriteStream, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { cellOf, csvLine, csvRows, itemOf } from './apps-csv.mjs';
import { build, checkNode, root, writeSecrets } from './prepare.mjs';

const usage = `Usage:
  npm run apps -- export <site> <app> <file>
  npm run apps -- import <site> <app> <file>
  npm run apps -- check [--repair]
A file whose name ends in .csv is CSV, any other NDJSON: one record a line.`;

/** Records of one transaction: others wait no longer than for one. */
const chunkSize = 1_000;

const isCsv = (file) => /\.csv$/i.test(file);

/** A line that is drawn over itself on a terminal, and every tenth part elsewhere. */
function progressBar(what, total) {
  const width = 30;
  let shown = -1;
  return (done, last = false) => {
    const part = total > 0 ? Math.min(1, done / total) : 1;
    const step = Math.floor(part * (process.stderr.isTTY ? 1000 : 10));
    if (step === shown && !last) return;
    shown = step;
    const bar = '#'.repeat(Math.round(part * width)).padEnd(width, '.');
    const line = `${what} [${bar}] ${Math.floor(part * 100)} %`;
    process.stderr.write(process.stderr.isTTY ? `\r${line}${last ? '\n' : ''}` : `${line}\n`);
  };
}

async function exportRecords({ store, key, indexes }, file) {
  const total = await store.count(key, indexes);
  const show = progressBar('Export', total);
  // Written beside and renamed at the end: half a file is never taken for a whole one.
  const part = `${file}.part`;
  const out = createWriteStream(part, { mode: 0o600 });
  try {
    const write = async (text) => {
      if (!out.write(text)) await new Promise((done, failed) => out.once('drain', done).once('error', failed));
    };
    const lineOf = isCsv(file) ? await csvWriter(store, key, write) : ndjsonLine;
    let done = 0;
    for await (const batch of store.stream(key)) {
      await write(batch.map(lineOf).join(''));
      done += batch.length;
      show(done);
    }
    out.end();
    await finished(out);
    renameSync(part, file);
    show(total, true);
    return `${done} records exported to ${file}`;
  } catch (error) {
    out.destroy();
    rmSync(part, { force: true });
    throw error;
  }
}

const ndjsonLine = ({ id, creator, items }) => `${JSON.stringify({ id, creator, items })}\n`;

/** Writes the line of names, for which the records are read once more, and returns how a record is written. */
async function csvWriter(store, key, write) {
  const names = new Set();
  for await (const batch of store.stream(key))
    for (const { items } of batch) for (const name of Object.keys(items)) names.add(name);
  const columns = [...names];
  await write(csvLine(['id', ...columns]));
  return ({ id, items }) =>
    csvLine([cellOf(id), ...columns.map((name) => cellOf(Object.hasOwn(items, name) ? items[name] : undefined))]);
}

/** What one line of NDJSON may be: an export's line, a line of `GET <app>/records`, or the items themselves. */
function entryOf(value, line) {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new Error(`Line ${line} is not an object`);
  const { items, creator = null, id: _, path: __, ...others } = value;
  const whole =
    items !== null && typeof items === 'object' && !Array.isArray(items) && Object.keys(others).length === 0;
  const { id, ...rest } = whole ? { ...items, ...(value.id === undefined ? {} : { id: value.id }) } : value;
  if (id !== undefined && typeof id !== 'string') throw new Error(`Line ${line}: the id is not a string`);
  return { ...(id === undefined ? {} : { id, whenTaken: 'refuse' }), items: rest, creator: whole ? creator : null };
}

async function* ndjsonEntries(stream) {
  let line = 0;
  for await (const text of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
    line += 1;
    if (text.trim() === '') continue;
    let value;
    try {
      value = JSON.parse(text);
    } catch {
      throw new Error(`Line ${line} is not JSON`);
    }
    yield entryOf(value, line);
  }
}

async function* csvEntries(stream) {
  let names;
  let row = 0;
  stream.setEncoding('utf8');
  for await (const cells of csvRows(stream)) {
    row += 1;
    if (!names) {
      names = cells.map((name) => name.replace(/^\ufeff/, ''));
      continue;
    }
    if (cells.length === 1 && cells[0] === '') continue;
    if (cells.length !== names.length) throw new Error(`Row ${row} has ${cells.length} cells, not ${names.length}`);
    const items = Object.fromEntries(
      cells
        .map((cell, at) => [names[at], names[at] === 'id' ? idOf(cell) : itemOf(cell)])
        .filter(([, value]) => value !== undefined),
    );
    yield entryOf({ items, ...(items.id === undefined ? {} : { id: items.id }) }, row);
  }
}

/** Ids are texts, also where they look like numbers. */
function idOf(cell) {
  const value = itemOf(cell);
  return typeof value === 'string' || value === undefined ? value : cell;
}

async function importRecords({ store, key, indexes }, file) {
  const show = progressBar('Import', statSync(file).size);
  const stream = createReadStream(file);
  const counts = { made: 0, passed: 0 };
  let chunk = [];
  const flush = async () => {
    const fresh = await withoutExisting(store, key, chunk);
    counts.passed += chunk.length - fresh.length;
    chunk = [];
    if (fresh.length === 0) return;
    const records = async function* () {
      yield* fresh;
    };
    counts.made += await store.createMany(key, indexes, records());
    show(stream.bytesRead);
  };
  const summary = () =>
    `${counts.made} records imported${counts.passed ? `, ${counts.passed} that were there already passed over` : ''}`;
  try {
    for await (const entry of isCsv(file) ? csvEntries(stream) : ndjsonEntries(stream)) {
      chunk.push(entry);
      if (chunk.length === chunkSize) await flush();
    }
    await flush();
  } catch (error) {
    error.message += `\n${summary()} before that; the import can be run again.`;
    throw error;
  }
  show(stream.bytesRead, true);
  return summary();
}

/** The entries that are not stored yet. Fails when one is, with other items. */
async function withoutExisting(store, key, entries) {
  const stored = await Promise.all(entries.map(({ id }) => (id === undefined ? null : store.get(key, id))));
  return entries.filter((entry, at) => {
    if (!stored[at]) return true;
    if (sorted(stored[at].items) !== sorted(entry.items)) {
      throw new Error(`The record "${entry.id}" is there already, with other items`);
    }
    return false;
  });
}

const sorted = (value) =>
  JSON.stringify(value, (_, part) =>
    part && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

async function check({ store }, repair) {
  const { records, wrong, orphanTables } = await store.check({ repair });
  const found = `${records} records compared, ${wrong} wrong, ${orphanTables} index tables of nothing`;
  if (wrong + orphanTables > 0 && !repair) process.exitCode = 1;
  return wrong + orphanTables > 0 ? `${found}: ${repair ? 'repaired' : 'run it with --repair'}` : found;
}

/** Runs `work` with the plugin's records, in a Strapi that listens nowhere. */
async function withRecords(work) {
  const { createStrapi } = createRequire(import.meta.url)('@strapi/strapi');
  const strapi = await createStrapi({ appDir: root, distDir: resolve(root, 'dist') }).load();
  try {
    return await work(strapi.plugin('apps').service('records'));
  } finally {
    await strapi.destroy();
  }
}

async function appOf(records, site, app) {
  const found = await records.app(site, app);
  if (!found) throw new Error(`There is no app "${app}" in a site "${site}"`);
  return { store: records.store(), ...found };
}

const commands = {
  export: {
    count: 3,
    run: async (records, [site, app, file]) => exportRecords(await appOf(records, site, app), resolve(file)),
  },
  import: {
    count: 3,
    run: async (records, [site, app, file]) => importRecords(await appOf(records, site, app), resolve(file)),
  },
  check: { count: 0, run: (records, _, repair) => check({ store: records.store() }, repair) },
};

async function main([name, ...rest]) {
  const command = Object.hasOwn(commands, name ?? '') ? commands[name] : undefined;
  const repair = rest.includes('--repair');
  const args = rest.filter((arg) => arg !== '--repair');
  if (!command || args.length !== command.count || (repair && name !== 'check')) {
    console.error(usage);
    process.exitCode = 2;
    return;
  }
  checkNode();
  writeSecrets();
  build('pluginServer', 'host');
  // The demo is the server's business, and its log lines are not this program's output.
  process.env.APPS_DEMO = 'false';
  console.log(await withRecords((records) => command.run(records, args, repair)));
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(`> ${error.message}`);
  process.exitCode = 1;
}
process.exit();
