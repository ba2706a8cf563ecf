import { beforeAll, describe, expect, test } from 'vitest';
import type { RightsMatrix, Why } from '../../plugins/apps/shared/admin-api';
import { useStage, useThemes } from '../support/hooks';
import { grantRole } from '../support/seed';

const settings = `acl:
  rights:
    reader: [readers, '*']
    author: [authors, anna]
    editor:
      - editors
    submitter: [submitters]
`;
const closed = 'debug: false\n';
const owned = "acl:\n  rights:\n    owner: ['*']\n    submitter: [authors]\n";
const restricted = 'view_permission: [editors, anna]\nelements:\n  name: TEXT\n';

const themes = useThemes(async (themes) => {
  for (const [app, text] of Object.entries({ listed: settings, closed, owned })) {
    await themes.write(`main/apps/${app}/settings.yaml`, text);
    await themes.write(`main/apps/${app}/blocks/free.yaml`, 'elements:\n  name: TEXT\n');
    await themes.write(`main/apps/${app}/blocks/limited.yaml`, restricted);
  }
  await themes.write('main/apps/listed/blocks/broken.yaml', 'elements: [\n');
  await themes.write('main/apps/limited/settings.yaml', `json: {author: read, submitter: none}\n${settings}`);
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));

/** Requesters of the tests by how the question names them. */
const people = ['anonymous', 'rita', 'anna', 'abel', 'eric', 'sam', 'mona', 'finder', 'updater', 'deleter', 'creator'];
const whoOf = (name: string) => (name === 'anonymous' ? name : `user:${name}`);

async function why(query: Record<string, string>): Promise<Why> {
  const line = `GET /apps/why?${new URLSearchParams({ site: 'site', ...query })}`;
  const { status, text, json } = await stage.send<Why>({ as: 'root', send: line });
  expect(status, text).toBe(200);
  return json;
}

/** What HTTP says: 401, 403 and 404 are refusals, all else is allowed. */
async function really(as: string, send: string, json?: object): Promise<number> {
  const { status } = await stage.send({ as, send, ...(json && { json }) });
  return status === 401 || status === 403 || status === 404 ? status : 200;
}

/** Records by who has made them, and with which block. */
const records: Record<string, { by: string; block?: string }> = {
  annas: { by: 'anna' },
  abels: { by: 'abel', block: 'limited' },
};

beforeAll(async () => {
  for (const as of people) if (as !== 'anonymous') await stage.user(as);
  for (const app of ['listed', 'closed', 'owned']) {
    for (const [id, { by, block }] of Object.entries(records)) {
      const items = { name: id };
      await stage.put(app, `${id}`, items, app !== 'closed' && !block ? by : 'root');
      if (block) await stage.send({ as: 'root', send: `PATCH ${app}/record/${id}`, json: { block } });
    }
  }
});

/** Each request, and the question that it answers. */
const operations: { send: string; json?: object; ask: Record<string, string> }[] = [
  { send: 'GET :app/records', ask: { operation: 'view' } },
  { send: 'GET :app/record/annas', ask: { operation: 'view', record: 'annas' } },
  { send: 'POST :app/search', json: { query: "id == 'x'" }, ask: { operation: 'view' } },
  { send: 'PATCH :app/record/annas', json: { name: 'x' }, ask: { operation: 'edit', record: 'annas' } },
  { send: 'PATCH :app/record/abels', json: { name: 'x' }, ask: { operation: 'edit', record: 'abels' } },
  { send: 'POST :app', json: { name: 'new' }, ask: { operation: 'create' } },
  { send: 'POST :app', json: { name: 'new', block: 'limited' }, ask: { operation: 'create', block: 'limited' } },
  { send: 'GET :app/blocks/free', ask: { operation: 'show', block: 'free' } },
  { send: 'GET :app/blocks/limited', ask: { operation: 'show', block: 'limited' } },
  { send: 'POST :app/refresh', json: {}, ask: { operation: 'manage' } },
];

describe.each(['listed', 'closed', 'owned'])('the app %s: the answer is what a request gets', (app) => {
  describe.each(people)('%s', (as) => {
    test.each(operations)('$send $ask', async ({ send, json, ask }) => {
      const answer = await why({ who: whoOf(as), app, ...ask });
      expect(answer.status).toBe(await really(as, send.replace(':app', app), json));
      expect(answer.allowed).toBe(answer.status === 200);
      expect(answer.steps.every(({ allowed }) => allowed)).toBe(answer.allowed);
      for (const { grounds } of answer.steps) expect(grounds.length).toBeGreaterThan(0);
    });

    // These change what others are asked about: each has a record of its own.
    test('deletion', async () => {
      await stage.put(app, `made-for-${as}`, {}, 'root');
      const ask = { who: whoOf(as), app, operation: 'delete', record: `made-for-${as}` };
      expect((await why(ask)).status).toBe(await really(as, `DELETE ${app}/record/made-for-${as}`));
    });
  });
});

test('an answer about records says what `json` of the settings keeps from the JSON interface', async () => {
  const asked: [who: string, operation: string, closed: string | null][] = [
    ['anna', 'view', null],
    ['anna', 'create', '"read" for "author"'],
    ['anna', 'edit', '"read" for "author"'],
    ['sam', 'create', '"none" for "submitter"'],
    ['eric', 'edit', null],
    ['mona', 'create', null],
    ['creator', 'create', null],
  ];
  for (const [who, operation, closed] of asked) {
    const { allowed, steps } = await why({ who: whoOf(who), app: 'limited', operation });
    expect([who, operation, allowed, steps[0]?.message]).toEqual([
      who,
      operation,
      true,
      closed === null ? null : expect.stringContaining(`"json" in settings.yaml is ${closed}`),
    ]);
  }
  expect((await why({ who: 'anonymous', app: 'limited', operation: 'create' })).steps[0]).toMatchObject({
    allowed: false,
    message: null,
  });
});

describe('content', () => {
  beforeAll(async () => {
    await grantRole(stage.host, 'readers', [
      'api::article.article.find',
      'api::article.article.create',
      'api::article.article.update',
    ]);
  });

  test.each(['anonymous', 'rita', 'sam'])('%s', async (as) => {
    const type = 'api::article.article';
    const questions = [
      ['findMany', 'GET /api/articles', undefined],
      ['create', 'POST /api/articles', { data: { title: `by ${as}` } }],
    ] as const;
    for (const [operation, send, json] of questions) {
      const answer = await why({ who: whoOf(as), type, operation });
      const got = await stage.send({ as, send, ...(json && { json }) });
      expect([operation, answer.allowed]).toEqual([operation, got.status < 300]);
      // Logic publishes what it creates.
      const needed = operation === 'create' ? ['create', 'update'] : ['find'];
      expect(answer.steps[0]?.grounds.map(({ permission }) => permission)).toEqual(
        needed.map((one) => `${type}.${one}`),
      );
    }
  });
});

describe('the line', () => {
  const ground = async (query: Record<string, string>) => (await why(query)).steps.map(({ grounds }) => grounds[0]);

  test.each<[string, Record<string, string>, { list?: string; name: string; line: number; column: number }]>([
    [
      'a group in a list',
      { who: 'user:abel', operation: 'create' },
      { list: 'acl.rights.author', name: 'authors', line: 4, column: 14 },
    ],
    ['a user in a list', { who: 'user:anna', operation: 'create' }, { name: 'authors', line: 4, column: 14 }],
    ['everyone', { who: 'anonymous', operation: 'view' }, { name: '*', line: 3, column: 23 }],
    [
      'owners',
      { app: 'owned', who: 'user:abel', operation: 'view' },
      { list: 'acl.rights.owner', name: '*', line: 3, column: 13 },
    ],
    ['a list over several lines', { who: 'user:eric', operation: 'edit' }, { name: 'editors', line: 6, column: 9 }],
  ])('%s', async (_title, query, { list, name, ...position }) => {
    const [first] = await ground({ app: 'listed', ...query });
    expect(first).toMatchObject({ kind: 'list', name, position: { file: 'settings.yaml', ...position } });
    if (list) expect(first?.list).toBe(list);
    expect(first?.position?.excerpt).toContain(String(name));
  });

  test('of a block’s definition', async () => {
    expect(await ground({ app: 'listed', who: 'user:eric', operation: 'show', block: 'limited' })).toMatchObject([
      {
        kind: 'list',
        list: 'view_permission',
        name: 'editors',
        position: { file: 'blocks/limited.yaml', line: 1, column: 19 },
      },
    ]);
  });

  test('what would grant it, where it is refused', async () => {
    const { steps, status } = await why({ app: 'listed', who: 'user:sam', operation: 'edit', record: 'annas' });
    expect(status).toBe(403);
    expect(steps[0]?.grounds).toMatchObject([
      { kind: 'list', list: 'acl.rights.editor', name: null, position: { line: 6 } },
      { kind: 'permission', permission: 'plugin::apps.record.update' },
      { kind: 'manager', permission: 'plugin::apps.app.manage' },
    ]);
  });

  test('why a record of somebody else is missing', async () => {
    const answer = await why({ app: 'owned', who: 'user:abel', operation: 'view', record: 'annas' });
    expect(answer).toMatchObject({ allowed: false, status: 404 });
    expect(answer.steps[0]?.message).toMatch(/annas/);
    expect(answer.steps[0]?.grounds.map(({ list }) => list)).not.toContain('acl.rights.owner');
    expect(await why({ app: 'owned', who: 'user:anna', operation: 'delete', record: 'annas' })).toMatchObject({
      allowed: true,
      steps: [{ grounds: [{ list: 'acl.rights.owner' }] }],
    });
  });

  test('managers and Strapi’s permissions', async () => {
    expect(await ground({ app: 'closed', who: 'user:mona', operation: 'view' })).toMatchObject([{ kind: 'manager' }]);
    expect(await ground({ app: 'closed', who: 'user:finder', operation: 'view' })).toMatchObject([
      { kind: 'permission', permission: 'plugin::apps.record.find' },
    ]);
  });

  test('a broken block', async () => {
    const answer = await why({ app: 'listed', who: 'user:eric', operation: 'show', block: 'broken' });
    expect(answer).toMatchObject({ allowed: false, status: 500, steps: [{ message: expect.stringMatching(/YAML/) }] });
  });
});

test.each(['listed', 'owned'])('the matrix of %s agrees with the questions', async (app) => {
  const { json } = await stage.send<RightsMatrix>({ as: 'root', send: `GET /apps/sites/site/apps/${app}/rights` });
  expect(json.groups[0]).toBe('Public');
  expect(json.groups).toEqual(expect.arrayContaining(['readers', 'authors', 'editors', 'submitters', 'managers']));
  const cell = (operation: string, group: string, block: string | null = null) =>
    json.rows.find((row) => row.operation === operation && row.block === block)?.cells[json.groups.indexOf(group)];
  expect(cell('edit', 'authors')).toBe('own');
  expect(cell('edit', 'editors')).toBe(app === 'owned' ? 'own' : 'all');
  expect(cell('view', 'authors')).toBe(app === 'owned' ? 'own' : 'all');
  expect(cell('view', 'Public')).toBe(app === 'owned' ? 'none' : 'all');
  expect(cell('manage', 'managers')).toBe('all');
  for (const { operation, block, cells } of json.rows.filter(({ block }) => block !== 'broken')) {
    for (const [at, group] of json.groups.entries()) {
      const answer = await why({ who: `group:${group}`, app, operation, ...(block && { block }) });
      expect([operation, block, group, answer.allowed]).toEqual([operation, block, group, cells[at] !== 'none']);
    }
  }
});

test.each([
  ['who=nobody&operation=view&app=listed', 400],
  ['who=user:nobody&operation=view&app=listed', 404],
  ['who=group:nobody&operation=view&app=listed', 404],
  ['who=admin:x&operation=view&app=listed', 404],
  ['who=anonymous&operation=fly&app=listed', 400],
  ['who=anonymous&operation=view&app=nowhere', 404],
  ['who=anonymous&operation=view', 404],
  ['who=anonymous&operation=show&app=listed&block=nowhere', 404],
  ['who=anonymous&operation=edit&app=listed&record=nowhere', 404],
  ['who=anonymous&operation=findMany&type=api::nothing.nothing', 404],
  ['who=anonymous&operation=findMany&type=plugin::users-permissions.user', 404],
  ['who=anonymous&operation=view&type=api::article.article', 400],
  ['who=anonymous&operation=findMany&app=listed', 400],
])('a question without an answer: %s', async (query, status) => {
  expect((await stage.send({ as: 'root', send: `GET /apps/why?site=site&${query}` })).status).toBe(status);
});
