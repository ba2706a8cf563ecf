import { randomUUID } from 'node:crypto';
import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { vi } from 'vitest';
import { buildRunner } from '../../../../sandbox/build.mjs';
import type { Items, Json } from '../../../../shared/json';
import { buildWorker } from '../../../build.mjs';
import type { Limits } from '../../config.types';
import { AppsError } from '../../errors';
import { createWorkers, type Workers } from '../../workers';
import { compileLogic } from '../compile/task';
import type { CompileInput } from '../compile/task-types';
import { createLogicRuntime, isLost, mostLosses } from '../index';
import type { ContextData, LogEntry, LogicHost, LogicOutcome, LogicProgram, LogicRuntime, RecordData } from '../types';

export const limits: Limits = {
  logicTime: 2000,
  logicMemory: 64,
  hostCalls: 1000,
  contentChanges: 50,
  resultSize: 1024 * 1024,
  logEntries: 100,
  logEntrySize: 10240,
  bodySize: 1024 * 1024,
  searchTime: 2_000,
  searches: 4,
  attempts: 10,
  runners: 1,
  isolates: 4,
};

/** Builds the runner and the worker where Node finds isolated-vm; `remove` deletes both. */
export async function makePrograms(): Promise<{ runner: string; worker: string; remove(): Promise<void> }> {
  const folder = join(__dirname, `../../../../node_modules/.cache/apps-runner-${randomUUID()}`);
  const runner = join(folder, 'runner.js');
  const worker = join(folder, 'worker.js');
  await Promise.all([buildRunner(runner), buildWorker(worker)]);
  // Another Node.js than the one that installed the dependencies has its isolated-vm elsewhere (scripts/test-nodes.mjs).
  const elsewhere = process.env.APPS_ISOLATED_VM;
  if (elsewhere) await symlink(elsewhere, join(folder, 'node_modules'));
  return { runner, worker, remove: () => rm(folder, { recursive: true }) };
}

/** A runtime with programs of its own, started with the command if there is one; `destroy` removes the programs too. */
export async function startRuntime(changed: Partial<Limits> = {}, command: string[] = []): Promise<LogicRuntime> {
  const programs = await makePrograms();
  const logger = { error: vi.fn() };
  const sandbox = { command };
  const workers = createWorkers({ path: programs.worker, count: 1, memory: 256, sandbox, logger });
  const runtime = createLogicRuntime({
    limits: { ...limits, ...changed },
    sandbox,
    logger,
    runnerPath: programs.runner,
    workers,
  });
  return {
    ...runtime,
    async destroy() {
      await Promise.all([runtime.destroy(), workers.destroy()]);
      await programs.remove();
    },
  };
}

/** Does the compiler's task in this process, with copies of what goes in and out. */
export const inProcess: Pick<Workers, 'run'> = {
  run: async (_task, input) => structuredClone(compileLogic(structuredClone(input as CompileInput))),
};

/** A program of the given files, or of `blocks/test.js` with the given text. */
export function programOf(source: string | Record<string, string>, path = 'blocks/test.js'): LogicProgram {
  const texts = typeof source === 'string' ? { [path]: source } : source;
  const files = new Map(Object.entries(texts).map(([file, text]) => [file, { path: file, text }]));
  const language = path.endsWith('.py') ? 'python' : path.endsWith('.ts') ? 'typescript' : 'javascript';
  return { revision: JSON.stringify(texts), scope: 'site/theme/app', path, language, files };
}

export function contextOf(changed: Partial<ContextData> = {}): ContextData {
  return {
    app: {
      id: 'app',
      url: 'http://x/site/@@apps/app',
      settings: { debug: true },
      blocks: [{ id: 'test', url: 'http://x/site/@@apps/app/blocks/test' }],
      indexes: ['id', 'total'],
    },
    block: { id: 'test', url: 'http://x/site/@@apps/app/blocks/test' },
    record: null,
    request: {
      method: 'POST',
      url: 'http://x/site/@@apps/app/blocks/test?q=1&form=no',
      path: '/site/@@apps/app/blocks/test',
      query: { q: '1', form: 'no' },
      form: { form: 'yes' },
      body: { body: 5 },
      headers: { accept: 'text/html' },
    },
    parent_request: null,
    portal: { id: 'site', title: 'Site', url: 'http://x/site', theme: 'basic', locale: 'en' },
    content: {
      type: 'api::article.article',
      id: '1',
      documentId: 'd1',
      title: 'News',
      url: 'http://x/site/articles/news',
      locale: 'en',
      path: '/articles/news',
      fields: { title: 'News', slug: 'news' },
    },
    user: { username: 'eric' },
    params: { p: 1 },
    acl: {
      username: 'eric',
      groups: ['editors'],
      rights: ['author'],
      roles: ['boss', 'king'],
      held: ['boss'],
      manager: false,
    },
    ...changed,
  };
}

/** A host that keeps records in memory and writes down what it was asked. */
export function fakeHost(
  stored: Record<string, Items> = {},
): LogicHost & { calls: Json[][]; logs: LogEntry[]; stored: typeof stored } {
  const calls: Json[][] = [];
  const logs: LogEntry[] = [];
  const note = (...call: unknown[]) => void calls.push(JSON.parse(JSON.stringify(call)) as Json[]);
  const data = (id: string): RecordData => ({ id, url: `http://x/record/${id}`, items: structuredClone(stored[id]) });
  const need = (id: string) => {
    if (!stored[id]) throw new AppsError('NotFoundError', `There is no record ${id}`);
    return data(id);
  };
  let made = 0;
  return {
    calls,
    logs,
    stored,
    async getRecord(app, id) {
      note('getRecord', app, id);
      return stored[id] ? data(id) : null;
    },
    async createRecord(app, given) {
      note('createRecord', app, given);
      const id = given ?? String(++made);
      if (stored[id]) throw new AppsError('ConflictError', `The id ${id} is taken`);
      stored[id] = {};
      return data(id);
    },
    async deleteRecord(app, id) {
      note('deleteRecord', app, id);
      return delete stored[id];
    },
    async changeRecord(app, id, change) {
      note('changeRecord', app, id, change);
      const items = need(id).items;
      Object.assign(items, change.set);
      for (const name of change.unset ?? []) delete items[name];
      for (const [name, by] of Object.entries(change.inc ?? {})) items[name] = Number(items[name] ?? 0) + by;
      stored[id] = items;
      return data(id);
    },
    async saveRecord(app, id, options) {
      note('saveRecord', app, id, options);
      const ran = options.block !== null || options.creation || options.form;
      return { record: need(id), ran, returned: ran ? 'http://x/saved' : null };
    },
    async reindexRecord(app, id) {
      note('reindexRecord', app, id);
      return null;
    },
    async displayRecord(app, id, edit) {
      note('displayRecord', app, id, edit);
      return `<p>${id}</p>`;
    },
    async blockElements(app, id) {
      note('blockElements', app, id);
      return { total: { type: 'NUMBER' } };
    },
    async displayBlock(app, id, record, edit) {
      note('displayBlock', app, id, record, edit);
      return `<form>${id}</form>`;
    },
    async refresh(app, rebuild) {
      note('refresh', app, rebuild);
      return ['id', 'total'];
    },
    async records(app, options) {
      note('records', app, options);
      const { limit = 100, cursor = '0' } = options as { limit?: number; cursor?: string };
      const end = Number(cursor ?? 0) + (limit ?? 100);
      const ids = Object.keys(stored);
      return { records: ids.slice(Number(cursor ?? 0), end).map(data), cursor: end < ids.length ? String(end) : null };
    },
    async count(app, query, names) {
      note('count', app, query, names);
      return Object.keys(stored).length;
    },
    async search(app, query, options) {
      note('search', app, query, options);
      return Object.keys(stored).map(data);
    },
    async openApp(id) {
      note('openApp', id);
      if (id !== 'other') return null;
      return {
        ...contextOf().app,
        id,
        acl: { username: null, groups: [], rights: [], roles: [], held: [], manager: true },
      };
    },
    async portalGet(path) {
      note('portalGet', path);
      return path === '/none' ? null : contextOf().content;
    },
    async contentUpdate(changes) {
      note('contentUpdate', changes);
      const { content } = contextOf();
      return { ...content, fields: { ...content.fields, ...changes }, title: String(changes.title ?? content.title) };
    },
    async contentFind(type, filters, order) {
      note('contentFind', type, filters, order);
      return [contextOf().content];
    },
    async contentCreate(type, id, data) {
      note('contentCreate', type, id, data);
      return { ...contextOf().content, documentId: 'd2', title: String(data.title) };
    },
    async contentTransition(type, documentId, transition) {
      note('contentTransition', type, documentId, transition);
      return null;
    },
    async documents(uid, method, params) {
      note('documents', uid, method, params);
      return [{ uid }];
    },
    log: (entry) => void logs.push(entry),
    respond(changes) {
      note('respond', changes);
      if (changes.redirect?.startsWith('http://evil')) throw new AppsError('BadRequestError', 'Redirect not allowed');
    },
  };
}

/** Runs one function `f` of a program to its outcome; again, as apps/ does, when somebody else has ended the runner. */
export async function runOnce(
  runtime: LogicRuntime,
  source: string | LogicProgram,
  options: { host?: LogicHost; context?: ContextData; contained?: boolean } = {},
  losses = 0,
): Promise<LogicOutcome> {
  const { host = fakeHost(), context = contextOf(), contained = true } = options;
  const program = typeof source === 'string' ? programOf(source) : source;
  try {
    const session = await runtime.open(program, context, host, runtime.budget(losses));
    try {
      return (await session.call([{ name: 'f', contained }]))[0];
    } finally {
      session.close();
    }
  } catch (error) {
    if (!isLost(error) || losses >= mostLosses) throw error;
    return runOnce(runtime, source, options, losses + 1);
  }
}
