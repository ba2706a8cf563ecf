import { expect, test } from 'vitest';
import { contextOf, fakeHost, programOf, runOnce, useRuntime } from './testing/harness';

const runtime = useRuntime();

test('functions are the exports, or the functions of the top level', async () => {
  const cases: [Record<string, string>, string[]][] = [
    [{ 'blocks/a.js': 'export function a() {}\nfunction hidden() {}\nexport const b = () => 1, c = 5;' }, ['a', 'b']],
    [
      { 'blocks/a.js': 'function a() {}\nconst b = () => 1, c = 5;\nlet d = async function () {}; class E {}' },
      ['a', 'b', 'd'],
    ],
    [
      {
        'blocks/a.ts': "export * from '../lib/b';\nexport { x as y } from '../lib/b';",
        'lib/b.ts': 'export const x = (): number => 1;',
      },
      ['x', 'y'],
    ],
    [
      { 'blocks/a.js': 'export const { x, y: [z = () => 1, ...w] } = { x: () => 1, y: [] };\nexport default () => 1;' },
      ['default', 'x', 'z'],
    ],
    [
      { 'blocks/a.js': 'const x = () => 1;\nexport {\n x as a, x };\nexport default function b() {}' },
      ['a', 'default', 'x'],
    ],
    [
      { 'blocks/a.js': "import data from '../lib/d.json';\nfunction a() { return data.k }", 'lib/d.json': '{"k": 1}' },
      ['a'],
    ],
  ];
  for (const [files, names] of cases) {
    const program = programOf(files, Object.keys(files)[0]);
    const session = await runtime.open(program, contextOf(), fakeHost(), runtime.budget());
    expect([...session.functions].sort()).toEqual(names);
    session.close();
  }
});

test('imports run: named, default, JSON, circular, TypeScript', async () => {
  const program = programOf(
    {
      'blocks/a.ts':
        "import data from '../lib/d.json';\nimport add, { twice as t } from '../lib/b';\nimport * as all from '../lib/b';\nexport const f = (): number => data.k + add(1, 2) + t(5) + all.twice(1);",
      'lib/b.ts':
        "import { f } from '../blocks/a';\nexport default (a: number, b: number) => a + b;\nexport const twice = (x: number) => 2 * x + (f ? 0 : 1);",
      'lib/d.json': '{"k": 100}',
    },
    'blocks/a.ts',
  );
  expect(await runOnce(runtime, program)).toEqual({ ok: true, defined: true, value: 115 });
});
