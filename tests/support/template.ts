import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Client } from '../../plugins/apps/server/src/database';
import { createOnServer, dropDatabase, type Server } from '../../plugins/apps/server/src/database/testing/databases';
import { root, testDatabase } from '../../scripts/prepare.mjs';

/** What a run of vitest has made on the servers: `postgres` is a template that is being made, `postgres.made` one that is. */
const notesOf = (run: number) => path.join(tmpdir(), `apps-test-templates-${run}`);
const nameOf = (run: number) => `apps_test_template_${run}`;

async function make(server: Server, name: string): Promise<void> {
  const { address } = await createOnServer(server, name);
  const env = { ...process.env, ...address.env };
  await promisify(execFile)(process.execPath, [path.join(__dirname, 'template-database.cjs')], { cwd: root, env });
}

/**
 * The database of a host's first start, to be copied: a file on SQLite, a name on a server. On a server the first worker of
 * the run that needs it makes it, and the others wait.
 */
export async function templateOf(client: Client): Promise<string> {
  if (client === 'sqlite') return testDatabase;
  // The process that has started the workers.
  const run = process.ppid;
  const note = path.join(notesOf(run), client);
  mkdirSync(notesOf(run), { recursive: true });
  const isFirst = mkdirOnce(note);
  if (isFirst) {
    await make(client, nameOf(run));
    writeFileSync(`${note}.made`, '');
  }
  while (!existsSync(`${note}.made`)) await pause(50);
  return nameOf(run);
}

function mkdirOnce(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

/** Deletes the templates on the servers, in the process that has started the workers. */
export async function dropTemplates(): Promise<void> {
  const notes = notesOf(process.pid);
  if (!existsSync(notes)) return;
  for (const server of readdirSync(notes).filter((name) => !name.endsWith('.made')))
    await dropDatabase(server as Server, nameOf(process.pid));
  rmSync(notes, { recursive: true });
}
