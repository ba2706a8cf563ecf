import { beforeEach, describe, expect, test } from 'vitest';
import type { Json } from '../../../../shared/json';
import { AppsError } from '../../common/errors';
import type { Guard } from './access';
import { type Call, type Documents, methods, prepareCall } from './methods';

let asked: [method: string, params: object][];
let found: { documentId: string } | null;
let publishing: boolean;

const guard = (conditions: object[] = []): Guard => ({
  may: async () => true,
  need: async ({ admin }) => {
    if (admin === 'publish' && !publishing) throw new AppsError('ForbiddenError', 'no');
  },
  query: async (query) => query,
  conditions: () => conditions,
  input: async (data) => ({ ...data, checked: true }),
  output: async (entities) => entities as Json,
  requireChange: async () => {},
});

const documents = (draftAndPublish = true): Documents => {
  const answer =
    <T>(method: string, value: T) =>
    async (params: object): Promise<T> => {
      asked.push([method, JSON.parse(JSON.stringify(params))]);
      return value;
    };
  const entries = { documentId: 'd', entries: found === null ? [] : [found] };
  return {
    findMany: answer('findMany', found === null ? [] : [found]),
    findFirst: answer('findFirst', found),
    count: answer('count', 3),
    create: answer('create', { documentId: 'new' }),
    update: answer('update', found),
    delete: answer('delete', entries),
    ...(draftAndPublish
      ? {
          publish: answer('publish', entries),
          unpublish: answer('unpublish', entries),
          discardDraft: answer('discardDraft', entries),
        }
      : {}),
  };
};

const run = async (name: string, given: Partial<Call> = {}): Promise<Json> => {
  const call: Call = {
    query: {},
    documentId: 'd',
    data: { title: 'x' },
    status: 'published',
    page: { start: 0, limit: 25 },
    guard: guard(),
    noteEntry: () => {},
    documents: documents(),
    ...given,
  };
  const method = methods[name];
  if (!method) throw new Error(`no ${name}`);
  const prepared = await prepareCall(method, call);
  await prepared.check?.();
  return prepared.run();
};

beforeEach(() => {
  asked = [];
  found = { documentId: 'd' };
  publishing = true;
});

describe('methods', () => {
  test.each<[string, Partial<Call>, object]>([
    ['findMany', { locale: 'de' }, { locale: 'de', status: 'published', start: 0, limit: 25 }],
    ['findFirst', { query: { filters: { a: 1 } } }, { filters: { a: 1 }, status: 'published' }],
    ['findOne', {}, { filters: { documentId: { $eq: 'd' } }, status: 'published' }],
    ['count', {}, { status: 'published' }],
    ['create', {}, { status: 'published', data: { title: 'x', checked: true } }],
    ['create', { status: 'draft' }, { status: 'draft', data: { title: 'x', checked: true } }],
    ['update', {}, { documentId: 'd', status: 'published', data: { title: 'x', checked: true } }],
    ['delete', { locale: '*' }, { documentId: 'd', locale: '*' }],
    ['publish', {}, { documentId: 'd' }],
    ['unpublish', {}, { documentId: 'd' }],
    ['discardDraft', {}, { documentId: 'd' }],
  ])('%s asks Strapi with %j', async (name, given, params) => {
    await run(name, given);
    expect(asked).toEqual([[name === 'findOne' ? 'findFirst' : name, params]]);
  });

  test.each(['update', 'delete', 'publish', 'unpublish', 'discardDraft'])(
    '%s of a missing document is not found',
    async (name) => {
      found = null;
      await expect(run(name)).rejects.toMatchObject({ name: 'NotFoundError' });
    },
  );

  test.each(['update', 'delete', 'publish', 'unpublish', 'discardDraft'])(
    '%s does not write a document that an administrator’s conditions exclude',
    async (name) => {
      found = null;
      const conditions = [{ createdBy: { id: 1 } }];
      await expect(run(name, { guard: guard(conditions) })).rejects.toMatchObject({ name: 'NotFoundError' });
      expect(asked).toEqual([
        ['findFirst', { filters: { $and: [{ documentId: 'd' }, ...conditions] }, status: 'draft' }],
      ]);
    },
  );

  /** An administrator with a condition for each of these actions. */
  const conditional = (...actions: string[]): Guard => ({
    ...guard(),
    conditions: (...asked) => asked.filter((action) => actions.includes(action)).map((action) => ({ [action]: 1 })),
  });

  test.each<[string, Partial<Call>, boolean]>([
    ['update', {}, true],
    ['update', { status: 'draft' }, false],
    ['update', { documents: documents(false) }, false],
    ['discardDraft', {}, false],
    ['delete', {}, false],
    ['publish', {}, true],
    ['unpublish', {}, true],
  ])('%s with %o: whether the conditions of publishing count', async (name, given, counts) => {
    found = null;
    const call = { guard: conditional('publish'), ...given };
    const [[first, params] = []] = await run(name, call).then(
      () => asked,
      () => asked,
    );
    const filters = { $and: [{ documentId: 'd' }, { publish: 1 }] };
    if (counts) expect([first, params]).toEqual(['findFirst', { filters, status: 'draft' }]);
    else expect(first).not.toBe('findFirst');
  });

  test.each<[string, object[], Partial<Call>, string | null]>([
    ['publish', [{ publish: 1 }], {}, 'ForbiddenError'],
    ['create', [{ create: 1 }], {}, null],
    ['publish', [{ publish: 1 }], { status: 'draft' }, null],
    ['publish', [{ publish: 1 }], { documents: documents(false) }, null],
  ])('create with a condition on "%s" %j and %o: %s', async (action, conditions, given, refused) => {
    found = null;
    const call = run('create', { guard: conditional(action), ...given });
    if (refused === null) return expect(await call).toEqual({ documentId: 'new' });
    await expect(call).rejects.toMatchObject({ name: refused });
    const filters = { $and: [{ documentId: 'new' }, ...conditions] };
    expect(asked.at(-1)).toEqual(['findFirst', { filters, status: 'draft' }]);
  });

  test.each(['delete', 'publish', 'unpublish', 'discardDraft'])(
    '%s in all languages needs the conditions in each of them',
    async (name) => {
      const condition = { locale: 'de' };
      const call = (all: number, permitted: number, conditions: object[]) => {
        const count = async ({ filters }: { filters?: object }) => {
          asked.push(['count', {}]);
          return JSON.stringify(filters).includes('"de"') ? permitted : all;
        };
        return run(name, { locale: '*', guard: guard(conditions), documents: { ...documents(), count } });
      };
      const none = { name: 'NotFoundError' };
      await expect(call(2, 1, [condition])).rejects.toMatchObject(none);
      await expect(call(2, 0, [condition])).rejects.toMatchObject(none);
      await expect(call(0, 0, [condition])).rejects.toMatchObject(none);
      expect(asked.filter(([method]) => method === name)).toEqual([]);
      await call(2, 2, [condition]);
      asked = [];
      await call(2, 2, []);
      expect(asked).toEqual([[name, { documentId: 'd', locale: '*' }]]);
    },
  );

  test.each(['create', 'update'])('%s of a published version needs the right to publish', async (name) => {
    publishing = false;
    await expect(run(name)).rejects.toMatchObject({ name: 'ForbiddenError' });
    expect(asked).toEqual([]);
    await run(name, { status: 'draft' });
    await run(name, { documents: documents(false) });
    expect(asked.map(([method]) => method)).toEqual([name, name]);
  });

  test.each(['publish', 'unpublish', 'discardDraft'])('%s needs draft & publish', async (name) => {
    await expect(run(name, { documents: documents(false) })).rejects.toMatchObject({ name: 'BadRequestError' });
  });
});
