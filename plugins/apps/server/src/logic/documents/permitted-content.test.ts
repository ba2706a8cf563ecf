import { describe, expect, test } from 'vitest';
import { PermittedContent } from './permitted-content';

const article = { uid: 'api::article.article', attributes: { title: { type: 'string' }, author: relation('author') } };
const author = { uid: 'api::author.author', attributes: { name: { type: 'string' }, agent: relation('agent') } };
const agent = { uid: 'api::agent.agent', attributes: { name: { type: 'string' } } };
const models = [article, author, agent];

function relation(name: string) {
  return { type: 'relation', target: `api::${name}.${name}` };
}

const own = { createdBy: 1 };
const forLocales = (...$in: string[]) => ({ $and: [{ locale: { $in } }] });

/** What an administrator with these conditions on authors may do in a host with the locales `en` and `de`. */
function permitted(conditions?: object) {
  const statements: unknown[] = [];
  const rules = [{ uid: article.uid }, { uid: agent.uid }, { uid: author.uid, ...(conditions && { conditions }) }];
  const ability = {
    rules,
    rulesFor: (_: string, uid: string) => rules.filter((rule) => rule.uid === uid),
    can: (_: string, subject: unknown) => typeof subject === 'string' || (subject as { mine?: boolean }).mine === true,
  };
  const manager = {
    sanitizeOutput: async (entry: object) => entry,
    toSubject: (row: object) => row,
  };
  const services: Record<string, object> = {
    'admin::permission': { createPermissionsManager: () => manager },
    'admin::content-type': { getNestedFields: (model: typeof article) => Object.keys(model.attributes) },
  };
  const strapi = {
    getModel: (uid: string) => models.find((model) => model.uid === uid),
    service: (name: string) => services[name],
    plugin: () => ({ service: () => ({ find: async () => [{ code: 'en' }, { code: 'de' }] }) }),
    db: {
      query: (uid: string) => ({
        async findMany({ where }: { where: { id: { $in: number[] } } }) {
          statements.push([uid, where.id.$in]);
          return where.id.$in.map((id) => ({ id, mine: id % 2 === 1 }));
        },
      }),
    },
  };
  return { content: new PermittedContent(strapi as never, ability), statements };
}

describe('a query through a relation', () => {
  test.each<[what: string, conditions: object | undefined, isAllowed: boolean]>([
    ['of which all may be read', undefined, true],
    ['of which all may be read, in each locale', forLocales('de', 'en', 'fr'), true],
    ['of which one locale may be read', forLocales('en'), false],
    ['of which own ones may be read', own, false],
    ['of which own ones may be read, in each locale', { $and: [...forLocales('en', 'de').$and, own] }, false],
  ])('to a type %s', async (_, conditions, isAllowed) => {
    const { content } = permitted(conditions);
    for (const query of [{ filters: { author: { name: 'x' } } }, { sort: 'author.name' }]) {
      const outcome = content.requireQuery(article.uid, query as never);
      if (isAllowed) await outcome;
      else await expect(outcome).rejects.toThrow('"author" cannot be used');
    }
  });
});

describe('what documents populate', () => {
  test('is read with one statement, and left out where it may not be read', async () => {
    const { content, statements } = permitted(own);
    const entries = [1, 2, 3].map((id) => ({ id, author: { id: id + 10, name: 'x', agent: { id: 7 } } }));
    const seen = await content.output(article.uid, entries);
    expect(seen).toEqual([entries[0], { id: 2, author: null }, entries[2]]);
    expect(statements).toEqual([[author.uid, [11, 12, 13]]]);
  });

  test.each([
    ['is shown where all may be read', undefined, { count: 3 }],
    ['is left out where some may be read', own, null],
  ])('as a number %s', async (_, conditions, shown) => {
    const { content } = permitted(conditions);
    const seen = await content.output(article.uid, { id: 1, author: { count: 3 } });
    expect(seen).toEqual({ id: 1, author: shown });
  });
});
