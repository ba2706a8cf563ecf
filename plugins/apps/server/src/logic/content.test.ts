import { describe, expect, test } from 'vitest';
import { AppsError } from '../common/errors';
import { contextOf, fakeHost, programOf, runOnce, useRuntime } from './testing/harness';

/** Host calls of `context.content` and `context.api.content`, in JavaScript and in Python. */
const runtime = useRuntime();

const item = { type: 'api::article.article', documentId: 'd1' };
const update = (data: object) => ['contentUpdate', data];

/** The statements in JavaScript and in Python, their host calls, and the function's result. */
const cases: [name: string, javascript: string, python: string, calls: unknown[], gives?: unknown][] = [
  [
    'assigned fields are sent together at the end',
    "c.title = 'New'; c.tags = [1]; return [c.title, c.tags]",
    "c.title = 'New'; c.tags = [1]; return [c.title, c.tags]",
    [update({ title: 'New', tags: [1] })],
    ['New', [1]],
  ],
  [
    'assigned fields are sent before a call that may read them',
    "c.title = 'A'; app.count(); c.title = 'B'",
    "c.title = 'A'; app.count(); c.title = 'B'",
    [update({ title: 'A' }), ['count', null, null, null, false, null], update({ title: 'B' })],
    null,
  ],
  [
    'a list is copied when it is assigned, and with all that is in it',
    'const tags = [[1]]; c.tags = tags; tags.push(2); tags[0].push(3); app.count(); tags.push(4); return c.tags',
    'tags = [[1]]; c.tags = tags; tags.append(2); tags[0].append(3); app.count(); tags.append(4); return c.tags',
    [update({ tags: [[1]] }), ['count', null, null, null, false, null]],
    [[1]],
  ],
  [
    'what is shown of it does not change what is stored',
    'c.meta = { a: 1 }; c.meta.a = 2; return c.meta',
    "c.meta = {'a': 1}; c.meta['a'] = 2; return c.meta",
    [update({ meta: { a: 1 } })],
    expect.anything(),
  ],
  [
    'update keeps assigned fields',
    "c.title = 'A'; c.update({ title: 'B' }); return c.title",
    "c.title = 'A'; c.update(title='B'); return c.title",
    [update({ title: 'A' }), update({ title: 'B' })],
    'B',
  ],
  [
    'fields that the server sets cannot be assigned',
    "c.url = 'x'",
    "c.url = 'x'",
    [],
    expect.stringMatching(/^(TypeError|AttributeError): .*url.* of a content item cannot be changed/),
  ],
  [
    'methods neither',
    'c.update = 1',
    'c.update = 1',
    [],
    expect.stringMatching(/update.* of a content item cannot be changed/),
  ],
  [
    'values are JSON',
    'c.title = new Map()',
    'c.title = len',
    [],
    expect.stringMatching(/the field title .*which JSON does not have/),
  ],
  [
    'other items are read only',
    "api.content.get('/x').title = 'y'",
    "api.content.get('/x').title = 'y'",
    [['portalGet', '/x']],
    expect.stringMatching(/title/),
  ],
  [
    'find',
    "return api.content.find({ portal_type: 'article', sort_on: 'modified', sort_order: 'descending', sort_limit: 2, Title: 'x' }).map((i) => [i.getURL(), i.getPath(), i.getObject().title])",
    "return [[i.getURL(), i.getPath(), i.getObject().title] for i in api.content.find(portal_type='article', sort_on='modified', sort_order='descending', sort_limit=2, Title='x')]",
    [['contentFind', 'article', { Title: 'x' }, { sort: 'modified:desc', limit: 2 }]],
    [['http://x/site/articles/news', '/articles/news', 'News']],
  ],
  [
    'find by null, which is no value of the other arguments',
    "return api.content.find({ portal_type: null, type: 'article', sort_on: null, sort_order: null, sort_limit: null, parent: null }).length",
    "return len(api.content.find(portal_type=None, type='article', sort_on=None, sort_order=None, sort_limit=None, parent=None))",
    [['contentFind', 'article', { parent: null }, { sort: null, limit: null }]],
    1,
  ],
  [
    'find without a type',
    "return api.content.find({ Title: 'x' })",
    "return api.content.find(Title='x')",
    [],
    expect.stringMatching(/^TypeError: find: a portal_type is needed/),
  ],
  [
    'create, then publish',
    "const made = api.content.create({ container: c, type: 'article', id: 'n', title: 'N', body: 'b' }); api.content.transition({ obj: made, transition: 'publish' }); return made.title",
    "made = api.content.create(container=c, type='article', id='n', title='N', body='b'); api.content.transition(obj=made, transition='publish'); return made.title",
    [
      ['contentCreate', 'article', 'n', { title: 'N', body: 'b' }],
      ['contentTransition', item.type, 'd2', 'publish'],
    ],
    'N',
  ],
  [
    'a target state',
    "api.content.transition({ obj: c, to_state: 'private' })",
    "api.content.transition(obj=c, to_state='private')",
    [['contentTransition', item.type, item.documentId, 'private']],
    null,
  ],
  [
    'positional arguments',
    "api.content.transition(c, 'publish')",
    "api.content.transition(c, 'publish')",
    [['contentTransition', item.type, item.documentId, 'publish']],
    null,
  ],
  [
    'a transition without an item',
    "api.content.transition({}, 'publish')",
    "api.content.transition({}, 'publish')",
    [],
    expect.stringMatching(/^TypeError: transition: a content item is needed/),
  ],
  ['the portal by its API', 'return api.portal.get().title', 'return api.portal.get().title', [], 'Site'],
];

test.each([
  ['js', 'export function f(context) { context.app.create_record("x").save(context.parent_request); }'],
  ['py', 'def f(context):\n    context.app.create_record("x").save(context.parent_request)'],
])('%s: a record is not saved with the request of the page around', async (language, source) => {
  const path = `blocks/test.${language}`;
  const parent = contextOf({ parent_request: { ...contextOf().request } });
  const outcome = await runOnce(runtime, programOf({ [path]: source }, path), { context: parent });
  expect(outcome).toMatchObject({
    ok: false,
    error: { message: expect.stringMatching(/^TypeError: save: a record is saved with context.request/) },
  });
});

describe.each(['js', 'py'])('%s', (language) => {
  const program = (javascript: string, python: string) => {
    if (language === 'js')
      return programOf(`export function f({ app, api, content: c }) { ${javascript}; return null; }`);
    const head = '    app, api, c = context.app, context.api, context.content';
    const source = ['def f(context):', head, ...python.split('; ').map((line) => `    ${line}`)].join('\n');
    return programOf({ 'blocks/test.py': source }, 'blocks/test.py');
  };
  test.each(cases)('%s', async (_name, javascript, python, calls, gives) => {
    const host = fakeHost();
    const outcome = await runOnce(runtime, program(javascript, python), { host });
    const message = outcome.ok ? outcome.value : outcome.error.message;
    expect(message).toEqual(gives);
    expect(host.calls).toEqual(calls);
  });

  /** `first; second` and `third`, where errors of the second are caught. */
  const caught = (first: string, second: string, third: string) =>
    program(
      `${first}; try { ${second} } catch (error) {} ${third}`,
      [first, 'try:', `    ${second}`, 'except Exception as error:', '    pass', third].join('; '),
    );
  const refusing = () => ({
    ...fakeHost(),
    contentUpdate: async () => {
      throw new AppsError('CsrfError', 'Not during GET');
    },
  });

  test('an assignment that throws has no effect, and logic may catch its error', async () => {
    const context = contextOf({ request: { ...contextOf().request, method: 'GET' } });
    const outcome = await runOnce(runtime, caught('app', "c.title = 'New'", 'return c.title'), {
      host: refusing(),
      context,
    });
    expect(outcome).toMatchObject({ ok: true, value: 'News' });
  });

  test('the request fails with the error of a later update, even if logic catches it', async () => {
    const later = caught("c.title = 'New'", 'app.count()', 'return 1');
    await expect(runOnce(runtime, later, { host: refusing() })).rejects.toThrow('Not during GET');
  });
});
