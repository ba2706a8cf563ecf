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
