import { expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useStage, useThemes } from '../support/hooks';
import { timed } from '../support/time';

/**
 * One bad block cannot occupy the sandbox (docs/reference/logic.md#limits-and-isolation): here, a sandbox of a single
 * isolate.
 */
const kinds = Array.from({ length: 20 }, (_, at) => `kind${at}`);
const themes = useThemes(async (themes) => {
  const blocks = 'main/apps/open/blocks';
  for (const kind of kinds) {
    await themes.write(`${blocks}/${kind}.js`, "export function on_save({ record }) { record.set('ran', true); }\n");
    await themes.write(`${blocks}/${kind}.yaml`, 'elements: {}\n');
  }
  for (const [block, body] of Object.entries({ stuck: 'for (;;);', well: "return 'well';" })) {
    await themes.write(`${blocks}/${block}.js`, `export function f() {\n  ${body}\n}\n`);
    await themes.write(`${blocks}/${block}.yaml`, 'elements: { f: BASIC }\n');
    await themes.write(`${blocks}/${block}.html`, '<p>{f}</p>\n');
  }
});
const stage = useStage(() => ({
  themesDirectory: themes.directory,
  env: configured({ apps: { limits: { logicTime: 900, isolates: 1 } } }),
}));

const call = (block: string) => stage.send({ send: `GET open/blocks/${block}/f` });

test('with too many requests at once, those that would wait too long get 503 with Retry-After', async () => {
  await call('well');
  const statuses = new Set<number>();
  const crowd = Array.from({ length: 60 }, async () => {
    const { status, headers } = await call('well');
    statuses.add(status);
    if (status === 503) expect(headers['retry-after']).toBe('1');
  });
  await Promise.all(crowd);
  expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  expect((await call('well')).json).toBe('well');
});

test('a bulk creation may name more blocks than sessions may be open', async () => {
  const json = [...kinds, ...kinds].map((block) => ({ block }));
  const answer = await stage.send({ as: 'anonymous', send: 'POST open/records', json });
  expect([answer.status, answer.json]).toEqual([201, { total: 40, success: 'created' }]);
  const { json: records } = await stage.send<{ items: { ran?: boolean } }[]>({ send: 'GET open/records' });
  expect(records.filter(({ items }) => items.ran)).toHaveLength(40);
});

test('a block that takes the sandbox from others is paused; the others are not', async () => {
  expect((await call('stuck')).status).toBe(504);
  const paused = async () => {
    const answer = await call('stuck');
    return answer.status === 503 && Number(answer.headers['retry-after']) > 20 ? answer : null;
  };
  let answer = await paused();
  for (let round = 0; round < 6 && !answer; round += 1) answer = await paused();
  expect(answer?.json).toMatchObject({
    error: { name: 'ServiceUnavailableError', message: expect.stringContaining('is paused'), details: {} },
  });
  expect((await call('well')).json).toBe('well');
});

test.each([
  { accept: 'application/json', type: 'application/json' },
  { accept: 'text/html', type: 'text/html' },
])('a form posted to a paused block is asked to come again: $accept', async ({ accept, type }) => {
  const { status, headers, text } = await stage.send({ send: 'POST open/blocks/stuck', accept, form: { x: '1' } });
  expect(status).toBe(503);
  expect(Number(headers['retry-after'])).toBeGreaterThan(10);
  expect(headers['content-type']).toContain(type);
  expect(text).toContain('is paused');
});

test('a paused block is an error mark on a page, at once', async () => {
  const { result: page, time } = await timed(() => stage.send({ send: 'GET open/blocks/stuck', accept: 'text/html' }));
  expect(time).toBeLessThan(800);
  expect(page.status).toBe(200);
  expect(page.text).toContain('class="apps-error"');
});

test('the admin panel shows the paused block', async () => {
  const { json } = await stage.send<{ blocks: { id: string; problem: { message: string } | null }[] }>({
    as: 'root',
    send: 'GET /apps/sites/site/apps/open',
  });
  const problem = (id: string) => json.blocks.find((block) => block.id === id)?.problem;
  expect(problem('stuck')?.message).toMatch(/^Paused for \d+ s/);
  expect(problem('well')).toBeNull();
});
