import { describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useStage, useThemes } from '../support/hooks';
import { html, type RowRequest } from '../support/stage';
import { fuzzFiles } from './fuzz/apps';
import { fuzz } from './fuzz/run';

/** Other requests, and more: `RULES_SEED=7 RULES_REQUESTS=5000 npx vitest run --project e2e tests/rules/fuzz.test.ts`. */
const seed = Number(process.env.RULES_SEED ?? 1);
const requests = Number(process.env.RULES_REQUESTS ?? 600);

const themes = useThemes(fuzzFiles);
const limits = { formPosts: 1_000_000 };
const stage = useStage(() => ({ themesDirectory: themes.directory, env: configured({ apps: { limits } }) }));

test(`random requests store only what the rules of the blocks allow (seed ${seed})`, async () => {
  const counts = await fuzz(stage, seed, (sent) => sent < requests);
  // Each way was used with and without success: a server that refuses everything breaks no rule.
  for (const [way, { done, refused }] of Object.entries(counts))
    expect(Math.min(done, refused), way).toBeGreaterThan(0);
}, 600_000);

describe('what it has found', () => {
  test('a record that comes into a block has the values of the server there, not those that it was made with', async () => {
    const forged = { plan: 'gold', total: 1000, made: 'by me' };
    await stage.put('free', 'forged', { name: 'Ada', count: 2, ...forged }, 'anna');
    const send = 'PATCH free/record/forged';
    expect((await stage.send({ as: 'anna', send, json: { block: 'order', count: 3 } })).status).toBe(200);
    expect(await stage.items('free', 'forged')).toMatchObject({ plan: 'basic', total: 6, made: 'first:3' });
  });

  test('an input that is not shown is not stored where logic sets and saves it', async () => {
    const save = (body: object) => stage.send({ send: 'POST strict/blocks/tools/save', json: body });
    const named = async (name: string) => {
      const all = await stage.send<{ items: Record<string, unknown> }[]>({ as: 'mona', send: 'GET strict/records' });
      return all.json.find(({ items }) => items.name === name)?.items;
    };
    await save({ items: { name: 'Hidden', count: 1, text: 'x' } });
    expect(await named('Hidden')).not.toHaveProperty('text');
    await save({ id: (await named('Hidden'))?.id, items: { text: 'y' } });
    expect(await named('Hidden')).not.toHaveProperty('text');
  });

  test('a form takes no record out of its block where the definition declares "block" for its index', async () => {
    await stage.put('strict', 'note', { block: 'note', title: 'One' }, 'eric');
    const form = { title: 'Two', block: 'order', _save: '' };
    const edited = await stage.send({ as: 'eric', send: 'POST strict/record/note', accept: html, form });
    expect(edited.status).toBe(303);
    expect(await stage.items('strict', 'note')).toMatchObject({ title: 'Two', block: 'note' });
  });

  test.each<[what: string, row: RowRequest, status: number]>([
    ['$inc of the block', { send: 'PATCH free/record/plain', json: { $inc: { block: 1 } } }, 400],
    ['a field of no field', { send: 'POST strict/blocks/note', json: { title: 'A', 'more:0:x': 1, _save: '' } }, 422],
  ])('%s is refused', async (_, row, status) => {
    if ((await stage.items('free', 'plain')) === null) await stage.put('free', 'plain', {}, 'eric');
    expect((await stage.send({ as: 'eric', ...row })).status).toBe(status);
    expect(await stage.items('free', 'plain')).toEqual({ id: 'plain' });
  });
});
