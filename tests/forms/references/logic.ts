import { describe, expect, test } from 'vitest';
import { article } from '../../support/seed';
import type { Stage } from '../../support/stage';
import type { Refusal } from '../fields/form';

/** What logic reads of references: `app.references()`. */
export function referencesInLogic(stage: Stage): void {
  describe('in logic', () => {
    const reading = (element: string, name: string, ids: unknown, as = 'anonymous') => ({
      send: `GET talks/blocks/read/${element}?${new URLSearchParams({ name, ids: JSON.stringify(ids) })}`,
      as,
    });
    const read = (...args: Parameters<typeof reading>) => stage.send<{ id: string; title: string }[]>(reading(...args));
    const ids = async (...args: Parameters<typeof read>) => (await read(...args)).json.map(({ id }) => id);

    test('targets have their fields, address and id', async () => {
      const { json } = await read('topics', 'topic', 'zebra');
      expect(json).toEqual([
        {
          block: 'topic',
          title: 'Last <b>',
          id: 'zebra',
          url: expect.stringMatching(/\/site\/@@apps\/topics\/record\/zebra$/),
        },
      ]);
    });

    test.each<[string, string, unknown, string, string[]]>([
      ['lists of many records', 'topic', ['zebra', ['a/b', 'zebra'], null, '', 7], 'anonymous', ['zebra', 'a/b']],
      ['nothing', 'topic', null, 'anonymous', []],
      ['what is gone', 'topic', ['nothing', '../x'], 'anonymous', []],
      ['what the query leaves out', 'open', ['zebra', 'a/b'], 'anonymous', ['a/b']],
      ['what is not seen', 'note', 'n1', 'anonymous', []],
      ['what is seen', 'note', 'n1', 'rita', ['n1']],
    ])('%s', async (_what, name, wanted, as, expected) => {
      expect(await ids('topics', name, wanted, as)).toEqual(expected);
    });

    test.each([
      ['no reference', 'name', 'a', /has no reference "name"/],
      ['no element', 'nothing', 'a', /has no reference "nothing"/],
      ['no ids', 'topic', 7, /ids must be an id, or a list of ids/],
      ['too many ids', 'topic', Array.from({ length: 201 }, (_, n) => `a${n}`), /at most 200 ids, not 201/],
    ])('%s is an error', async (_what, name, wanted, message) => {
      const { status, json } = await stage.send<Refusal>(reading('topics', name, wanted, 'mona'));
      expect([status, json.error?.message]).toEqual([500, expect.stringMatching(message)]);
    });

    test('in Python', async () => {
      expect((await stage.send({ send: 'GET talks/blocks/python/topics', as: 'mona' })).json).toEqual([
        'Last <b>',
        'With slash',
      ]);
    });

    test('sixty articles take two queries for the entries', async () => {
      const made = await stage.host.run(async (strapi, uid) => {
        const all = Array.from({ length: 60 }, (_, n) =>
          strapi
            .documents(uid as never)
            .create({ data: { title: `Many ${n}`, slug: `many-${n}` }, status: 'published' } as never),
        );
        const ids = (await Promise.all(all)).map(({ documentId }) => documentId);
        const counted = globalThis as unknown as { articleReads: number };
        counted.articleReads = 0;
        strapi.db.connection.on('query', ({ sql }: { sql: string }) => {
          if (/^select .*articles/i.test(sql) && /document_id.* in /i.test(sql)) counted.articleReads += 1;
        });
        return ids;
      }, article);
      const answer = await read('articles', '', made);
      expect(answer.json).toHaveLength(60);
      expect(answer.json[0]).toMatchObject({ title: 'Many 0', url: expect.stringContaining('/articles/many-0') });
      const reads = await stage.host.run(() => (globalThis as unknown as { articleReads: number }).articleReads);
      expect(reads).toBe(2);
    });
  });
}
