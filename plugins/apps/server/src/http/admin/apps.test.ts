import type { Context } from 'koa';
import { expect, test } from 'vitest';
import type { AppDetail } from '../../../../shared/admin-api';
import { AppsError } from '../../common/errors';
import { createLayouts } from '../../layouts';
import type { HttpServices } from '../request/exchange';
import { adminInterface } from './interface';

const site = { id: 'site', title: 'Site', url: 'http://here/site', theme: 'main' };

interface Given {
  progress?: { done: number; total: number };
  error?: AppsError;
  layout?: string;
  /** The error of its logic's compiler. */
  logic?: AppsError;
  /** An app of this id declares the same view as the block. */
  rival?: string;
}

const warnings: string[] = [];

/** What the panel gets for an app with one block. */
async function detail({ progress, error, layout = '', logic, rival = 'zebra' }: Given): Promise<AppDetail> {
  const block = {
    id: 'a',
    definition: { elements: new Map(), view: { id: 'top', withTheme: false } },
    error,
    layout: { path: 'blocks/a.html', text: layout },
    logic: { path: 'blocks/a.js', language: 'javascript' },
  };
  const folder = { themeId: 'main', site, revision: '1', files: new Map([['blocks/a.yml', {}]]) };
  const settings = { source: {}, options: {} };
  const app = { id: 'notes', folder, blocks: new Map([['a', block]]), indexes: new Map(), error: null, settings };
  const services = {
    logger: { warn: (message: string) => warnings.push(message) },
    sites: { apps: async () => ['notes', rival], site: async () => site, urls: { app: () => '', block: () => '' } },
    layouts: createLayouts(),
    logic: { paused: async () => [], problem: () => logic ?? null },
    loadApp: async (_: unknown, id: string) => ({ ...app, id }),
    jobs: { counts: async () => [] },
    mailer: { state: async () => ({ waiting: 0, tried: 0, next: null, kept: 0 }) },
    store: { count: async () => 0, progress: async () => progress ?? null, completeIndexes: async () => new Map() },
  } as unknown as HttpServices;
  const ctx = { params: { site: 'site', app: 'notes' } } as unknown as Context;
  await adminInterface(() => services).controller.app?.(ctx);
  return ctx.body as AppDetail;
}

test.each([
  [undefined, null],
  [
    { done: 3, total: 10 },
    { state: 'running', done: 3, total: 10, message: null },
  ],
])('a re-index of another process is shown: %j', async (progress, refresh) => {
  expect((await detail({ progress })).refresh).toEqual(refresh);
});

const position = { file: 'blocks/a.yaml', line: 2, column: 5 };
test.each<[string, Given, object | null]>([
  ['nothing', {}, null],
  [
    'a definition',
    { error: new AppsError('DefinitionError', 'No such key', { position }) },
    { ...position, message: 'No such key' },
  ],
  [
    'logic that does not compile',
    { logic: new AppsError('LogicError', 'Unexpected token', { position: { file: 'blocks/a.js', line: 3 } }) },
    { file: 'blocks/a.js', line: 3, column: null, message: 'Unexpected token' },
  ],
  [
    'a view that belongs to an earlier app',
    { rival: 'likes' },
    { file: 'blocks/a.yml', message: expect.stringMatching(/view "top" of notes\/blocks\/a .* likes\/blocks\/a/) },
  ],
  ['a layout', { layout: 'one\n{% if x %}' }, { file: 'blocks/a.html', line: 2, column: 1 }],
])('the problem of a block is %s', async (_what, given, problem) => {
  const [block] = (await detail(given)).blocks;
  if (problem) expect(block?.problem).toMatchObject(problem);
  else expect(block?.problem).toBeNull();
});

test('a view that two apps declare is logged once', async () => {
  warnings.length = 0;
  await detail({ rival: 'polls' });
  await detail({ rival: 'polls' });
  expect(warnings).toEqual([expect.stringMatching(/view "top" of polls\/blocks\/a .* notes\/blocks\/a/)]);
});
