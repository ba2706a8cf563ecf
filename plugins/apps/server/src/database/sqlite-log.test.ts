import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLog, type SqliteLog } from './sqlite';
import { copySqliteLog } from './sqlite-task';

type Connection = Parameters<SqliteLog['committing']>[0] & { exec(sql: string): unknown; close(): void };

const driver = createRequire(__filename).resolve('better-sqlite3');
const Driver = require(driver) as new (path: string) => Connection;

let folder: string;
let file: Connection;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'apps-log-'));
  file = new Driver(join(folder, 'data.db'));
  file.pragma('journal_mode = WAL');
  file.exec('create table t (a)');
});
afterEach(async () => {
  file.close();
  await rm(folder, { recursive: true });
});

/** Commits `pages` pages or a few more. */
function write(log: SqliteLog, pages: number): void {
  file.exec('begin immediate');
  const numbers = `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${pages}) select i from n`;
  file.exec(`insert into t select zeroblob(4000) from (${numbers})`);
  log.committing(file, () => file.exec('commit'));
}

const pages = () => (file.pragma('wal_checkpoint(NOOP)') as { log: number; checkpointed: number }[])[0];

test('a long log is copied by another, and begins again', async () => {
  const copies: null[] = [];
  const log = createLog(async () => copies.push(copySqliteLog({ path: join(folder, 'data.db'), driver })));
  write(log, 500);
  await log.copied();
  expect(copies).toHaveLength(0);
  write(log, 1_500);
  await log.copied();
  expect(copies).toHaveLength(1);
  expect(pages()?.log).toBe(pages()?.checkpointed);
  write(log, 10);
  expect(pages()?.log).toBeLessThan(100);
});

test('without another process that copies it, commits do: the log stays bounded, and copies are not asked for all the time', async () => {
  let asked = 0;
  const log = createLog(async () => {
    asked += 1;
    throw new Error('no process');
  });
  for (let round = 0; round < 15; round += 1) {
    write(log, 1_000);
    await log.copied();
  }
  expect(asked).toBe(1);
  expect(pages()?.log).toBeLessThan(8_000);
});
