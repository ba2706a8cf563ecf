import { CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { EditorState } from '@codemirror/state';
import { expect, test } from 'vitest';
import { processorTime } from '../../../../../server/src/common/testing/processor-time';
import type { AppDetail, CodeHints } from '../../../../../shared/admin-api';
import types from '../../../../../shared/context-members.json';
import { completionsOf } from './Editor';

const hints = { definition: ['elements', 'target'], settings: ['acl'], types: types as CodeHints['types'] };
const app = {
  blocks: [
    {
      id: 'book',
      elements: [
        { name: 'title', type: 'TEXT' },
        { name: 'total', type: 'NUMBER' },
      ],
    },
    { id: 'shelf', elements: [] },
  ],
} as unknown as AppDetail;

/** What is offered at the end of a text. */
async function offered(path: string, doc: string): Promise<CompletionResult['options']> {
  const context = new CompletionContext(EditorState.create({ doc }), doc.length, true);
  const found = await Promise.all(completionsOf(path, () => ({ app, hints })).map((source) => source(context)));
  return found.flatMap((one) => one?.options ?? []);
}

const js = 'blocks/book.js';
test.each<[path: string, text: string, has: string[], lacks: string[]]>([
  [js, 'context.', ['app', 'record', 'request', 'escape', 'get_app'], ['get_record', 'title']],
  [js, 'context.app.', ['get_record', 'create_record', 'url', 'acl'], ['escape']],
  [js, 'context.app.get', ['get_record', 'get_block'], []],
  [js, 'context.app.acl.', ['current_user', 'is_manager'], ['get_record']],
  [js, 'if (context.record?.', ['save', 'inc', 'title', 'total'], ['get_record']],
  [js, 'record.', ['save', 'title'], []],
  [js, 'app.', ['get_record'], []],
  [js, "context.app.get_record('a.b').", ['save', 'title'], ['get_record']],
  [js, "context.api.documents('api::article.article').", ['findMany', 'create'], ['get_record']],
  [js, 'context.request.response.', ['status', 'redirect'], []],
  [js, 'console.', [], ['get_record', 'title']],
  [js, 'context.app.id.', [], ['get_record']],
  [js, 'constructor.', [], ['get_record']],
  [js, "record.get('", ['title', 'total'], ['save']],
  [js, 'context.record["to', ['title', 'total'], []],
  [js, 'context.request.get("', ['title'], []],
  [js, "context.invalid('", ['title'], []],
  [js, "context.app.get_block('", ['book', 'shelf'], ['title']],
  [js, "context.app.search('", [], ['title', 'book']],
  ['blocks/book.py', 'context.record.', ['save', 'title'], []],
  ['blocks/book.py', "record.get('", ['title'], []],
  ['lib/tools.js', 'context.record.', ['save'], ['title']],
  ['blocks/book.html', '<p>{', ['title', 'total'], ['save']],
  ['blocks/book.yaml', '', ['elements', 'target'], ['acl']],
  ['settings.yaml', '', ['acl'], ['elements']],
])('%s: %s', async (path, text, has, lacks) => {
  const labels = (await offered(path, text)).map(({ label }) => label);
  expect(labels).toEqual(expect.arrayContaining(has));
  for (const label of lacks) expect(labels).not.toContain(label);
});

test('a method is offered with its signature, its other ones and its comment', async () => {
  const options = await offered(js, 'context.app.');
  expect(options.find(({ label }) => label === 'get_record')).toMatchObject({
    type: 'method',
    detail: '(id: string | number | { id: string }): AppRecord | null',
    info: 'Reads a record; null if there is none.',
  });
  const search = options.find(({ label }) => label === 'search');
  expect(search?.detail).toMatch(/\(\+2\)$/);
  expect(search?.info).toMatch(
    /^search\(query: string, options\?: SearchOptions\)[\s\S]*\n\nSearches records\.\n`own`: /,
  );
});

test('a long line costs little', async () => {
  const lines = ['a.b(c).'.repeat(20_000), `${'('.repeat(50_000)}record.get('`, 'a'.repeat(100_000)];
  const offer = async () => {
    for (const line of lines) await offered(js, line);
  };
  expect(await processorTime(offer)).toBeLessThan(2_000);
});
