import { beforeAll, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useStage, useThemes } from '../support/hooks';
import { html, type Row } from '../support/stage';
import { expectAnswer } from '../support/table';
import { timed } from '../support/time';

/** Files and requests that would block the server's one thread for seconds without limits. */

const looping = `${'(a|a)*'.repeat(160)}b`;
const fields = Array.from({ length: 30 }, (_, n) => `f${n}`);
const lines = (count: number, line: (index: number) => string) => Array.from({ length: count }, (_, n) => line(n));

const blocks: Record<string, string> = {
  'elements.html': '{a}'.repeat(200_000),
  'elements.yaml': 'elements: { a: BASIC }\n',
  'fitting.html': '{a}'.repeat(9_000),
  'fitting.yaml': 'elements: { a: BASIC }\n',
  'operands.html': `{% if a${' or a'.repeat(100_000)} %}x{% endif %}`,
  'dots.html': `{${'a.'.repeat(120_000)}a}`,
  'lists.html': `{% assign l = (1..90000) | where_exp: "i", "i > 5${' or i > 9'.repeat(900)}" %}`,
  'definition.yaml': ['elements:', ...lines(7_000, (n) => `  e${n}: TEXT`), ''].join('\n'),
  'definition.html': 'x',
  'patterns.yaml': ['elements:', ...fields.map((name) => `  ${name}: { type: TEXT, pattern: "${looping}" }`)].join(
    '\n',
  ),
  'patterns.html': `${fields.map((name) => `{${name}}`).join('')}{_save}`,
  'wide.js':
    'export function make(context) { const r = context.app.create_record(); for (let n = 0; n < 10001; n += 1) r["k" + n] = n; return "made"; }',
  'wide.yaml': 'elements: { make: BASIC }\n',
  'headers.js':
    'export function set(context) { for (let n = 0; n < 900; n += 1) context.request.response.set_header("X-App-" + n, "x".repeat(500)); return "set"; }',
  'headers.yaml': 'elements: { set: BASIC }\n',
  'generics.ts': '<a>('.repeat(24),
  'generics.yaml': 'elements: { f: BASIC }\n',
  'long.js': `import '../lib/long';`,
  'long.yaml': 'elements: { f: BASIC }\n',
};

const themes = useThemes(async (themes) => {
  for (const [name, text] of Object.entries(blocks)) await themes.write(`main/apps/heavy/blocks/${name}`, text);
  await themes.write('main/apps/heavy/lib/long.js', `//${'x'.repeat(300_000)}`);
  await themes.write('main/apps/heavy/settings.yaml', "debug: true\nacl:\n  rights:\n    editor: ['*']\n");
});
// Logic ends by the number of its items, not by its time: a busy machine may need longer than the usual time.
const stage = useStage(() => ({
  themesDirectory: themes.directory,
  env: configured({ apps: { limits: { logicTime: 10_000 } } }),
}));
beforeAll(async () => {
  await stage.send({ send: 'GET open/blocks/values/number' });
});

/** The longest time that another visitor has waited during `work`. */
async function longestWait(work: Promise<unknown>): Promise<number> {
  let [going, longest] = [true, 0];
  const done = work.finally(() => {
    going = false;
  });
  do {
    const { time } = await timed(() => stage.send({ send: 'GET open/blocks/values/number' }));
    longest = Math.max(longest, time);
  } while (going);
  await done;
  return longest;
}

const answers = Object.fromEntries(fields.map((name) => [name, 'a'.repeat(3_999)]));
const rows: Row[] = [
  { title: 'a layout of many elements', send: 'GET heavy/blocks/elements', accept: html, status: 500 },
  { title: 'a layout of as many as it may have', send: 'GET heavy/blocks/fitting', accept: html, status: 200 },
  { title: 'a condition of many operands', send: 'GET heavy/blocks/operands', accept: html, status: 500 },
  { title: 'an element of many dots', send: 'GET heavy/blocks/dots', accept: html, status: 500 },
  { title: 'work for each item of a list', send: 'GET heavy/blocks/lists', accept: html, status: 500 },
  { title: 'a definition of many elements', send: 'GET heavy/blocks/definition', accept: html, status: 500 },
  {
    title: 'a form of bad patterns',
    send: 'POST heavy/blocks/patterns',
    json: { ...answers, _save: '' },
    status: 422,
    error: 'ValidationError',
    has: ['takes too long'],
  },
  {
    title: 'a record of many items, by logic',
    send: 'POST heavy/blocks/wide/make',
    json: {},
    status: 500,
    error: 'LogicError',
  },
  {
    title: 'a record of many items',
    send: 'POST heavy',
    json: Object.fromEntries(lines(60_000, String).map((_, n) => [`k${n}`, n])),
    status: 400,
    error: 'BadRequestError',
  },
  {
    title: 'logic that takes exponential time to compile',
    send: 'POST heavy/blocks/generics/f',
    json: {},
    status: 500,
    error: 'LogicError',
    has: ['takes longer than 2000 ms', 'generics.ts'],
  },
  {
    title: 'logic that imports a long file',
    send: 'POST heavy/blocks/long/f',
    json: {},
    status: 500,
    error: 'DefinitionError',
    has: ['larger than 256 kB', 'lib/long.js'],
  },
  { title: 'many headers', send: 'POST heavy/blocks/headers/set', json: {}, status: 500, error: 'LogicError' },
];

test.each(rows)('$title keeps no other visitor waiting', async (row) => {
  for (const time of ['first', 'again']) {
    const answer = stage.send(row);
    const wait = await longestWait(answer);
    if (process.env.SHOW) console.log('WAIT', row.title, time, Math.round(wait));
    expect(wait, time).toBeLessThan(2_500);
    expectAnswer(await answer, row);
  }
});
