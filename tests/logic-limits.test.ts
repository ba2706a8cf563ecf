import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage, type Stage } from './support/stage';
import { copyThemes, type ThemeCopy } from './support/theme';

/** One bad block cannot take the sandbox (contract, section 8): here, one of a single isolate. */
let stage: Stage;
let themes: ThemeCopy;
beforeAll(async () => {
  themes = await copyThemes();
  const blocks = 'main/apps/open/blocks';
  for (const [block, body] of Object.entries({ stuck: 'for (;;);', well: "return 'well';" })) {
    await themes.write(`${blocks}/${block}.js`, `export function f() {\n  ${body}\n}\n`);
    await themes.write(`${blocks}/${block}.yaml`, 'elements: { f: BASIC }\n');
    await themes.write(`${blocks}/${block}.html`, '<p>{f}</p>\n');
  }
  const config = { themesDirectory: themes.directory, limits: { logicTime: 900, isolates: 1 } };
  const preload = path.join(__dirname, 'support', 'configure.cjs');
  const env = { NODE_OPTIONS: `--require ${preload}`, TEST_APPS_CONFIG: JSON.stringify(config) };
  stage = await openStage({ themesDirectory: themes.directory, env });
});
afterAll(async () => {
  await stage?.close();
  await themes?.dispose();
});

const call = (block: string) => stage.send({ send: `GET open/blocks/${block}/f` });

test('too many at once: those who would wait too long are asked to come again', async () => {
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
])('a posted form is asked to come again: $accept', async ({ accept, type }) => {
  const { status, headers, text } = await stage.send({ send: 'POST open/blocks/stuck', accept, form: { x: '1' } });
  expect(status).toBe(503);
  expect(Number(headers['retry-after'])).toBeGreaterThan(10);
  expect(headers['content-type']).toContain(type);
  expect(text).toContain('is paused');
});

test('in its place on a page there is an error mark, at once', async () => {
  const begin = performance.now();
  const page = await stage.send({ send: 'GET open/blocks/stuck', accept: 'text/html' });
  expect(performance.now() - begin).toBeLessThan(800);
  expect(page.status).toBe(200);
  expect(page.text).toContain('class="apps-error"');
});

test('the admin panel shows it', async () => {
  const { json } = await stage.send<{ blocks: { id: string; problem: { message: string } | null }[] }>({
    as: 'root',
    send: 'GET /apps/sites/site/apps/open',
  });
  const problem = (id: string) => json.blocks.find((block) => block.id === id)?.problem;
  expect(problem('stuck')?.message).toMatch(/^Paused for \d+ s/);
  expect(problem('well')).toBeNull();
});
