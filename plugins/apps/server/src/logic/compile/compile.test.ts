import { describe, expect, test } from 'vitest';
import { isAppsError } from '../../common/errors';
import { inProcess, programOf } from '../testing/harness';
import { compileProgram, createCompiler } from '.';

async function failure(files: Record<string, string>, path = Object.keys(files)[0]): Promise<unknown> {
  try {
    await createCompiler(inProcess)(programOf(files, path));
  } catch (error) {
    if (isAppsError(error, 'LogicError')) return { message: error.message, ...error.position };
    throw error;
  }
  return null;
}

describe('an error of the compiler has its position', () => {
  const cases: [string, Record<string, string>, { message: RegExp; file: string; line?: number; column?: number }][] = [
    [
      'syntax',
      { 'blocks/a.js': 'function f() {\n  return }}\n' },
      { message: /SyntaxError/, file: 'blocks/a.js', line: 2, column: 11 },
    ],
    ['unfinished', { 'blocks/a.js': 'function f() {' }, { message: /SyntaxError/, file: 'blocks/a.js', line: 1 }],
    [
      'syntax in TypeScript',
      { 'blocks/a.ts': 'const a: number = 1;\nconst b = ;' },
      { message: /SyntaxError/, file: 'blocks/a.ts', line: 2 },
    ],
    [
      'syntax in an import',
      { 'blocks/a.js': "import '../lib/b';", 'lib/b.js': '\n\n)' },
      { message: /SyntaxError/, file: 'lib/b.js', line: 3 },
    ],
    [
      'a package',
      { 'blocks/a.js': "\nimport fs from 'fs';" },
      { message: /only relative/, file: 'blocks/a.js', line: 2, column: 16 },
    ],
    [
      'a node: module',
      { 'blocks/a.js': "import fs from 'node:fs';" },
      { message: /only relative/, file: 'blocks/a.js', line: 1 },
    ],
    [
      'an absolute path',
      { 'blocks/a.js': "import x from '/etc/passwd';" },
      { message: /only relative/, file: 'blocks/a.js', line: 1 },
    ],
    [
      'outside',
      { 'blocks/a.js': "export * from '../../other/lib/x.js';" },
      { message: /no such file/, file: 'blocks/a.js', line: 1 },
    ],
    [
      'a missing file',
      { 'blocks/a.js': "import { x } from './x';" },
      { message: /no such file/, file: 'blocks/a.js', line: 1 },
    ],
    [
      'import()',
      { 'blocks/a.js': "const f = {\n m() { return import('./b') } }" },
      { message: /import\(\)/, file: 'blocks/a.js', line: 2 },
    ],
    [
      'import.meta',
      { 'blocks/a.js': 'const f = () => import.meta.url' },
      { message: /import\.meta/, file: 'blocks/a.js', line: 1 },
    ],
    [
      'require',
      { 'blocks/a.js': "const fs = require('fs')" },
      { message: /require is not/, file: 'blocks/a.js', line: 1 },
    ],
    [
      'await at the top',
      { 'blocks/a.js': 'const x = await 1;' },
      { message: /await is not available/, file: 'blocks/a.js', line: 1 },
    ],
    [
      'broken JSON',
      { 'blocks/a.js': "import x from '../lib/x.json';", 'lib/x.json': '{' },
      { message: /SyntaxError/, file: 'lib/x.json' },
    ],
    [
      'a way out of the wrapper',
      { 'blocks/a.js': '}); globalThis.x = 1; (function () {' },
      { message: /SyntaxError/, file: 'blocks/a.js', line: 1 },
    ],
    [
      'a comment of HTML',
      { 'blocks/a.js': 'let x = 1;\nx <!--x; /*\n*/' },
      { message: /<!-- is not available/, file: 'blocks/a.js', line: 2, column: 4 },
    ],
    [
      'a comment of HTML in TypeScript',
      { 'blocks/a.ts': 'let x: number = 1;\nconst f = () => `${x<!--x}`; /*\n*/' },
      { message: /<!-- is not available/, file: 'blocks/a.ts', line: 2 },
    ],
    [
      'the end of a comment of HTML',
      { 'blocks/a.js': 'let x = 1;\n--> x' },
      { message: /SyntaxError/, file: 'blocks/a.js', line: 2 },
    ],
    [
      'a name of the wrapper',
      { 'blocks/a.js': '\nlet require = 1;' },
      { message: /'require' has already been declared/, file: 'blocks/a.js', line: 2 },
    ],
    ['deep nesting', { 'blocks/a.js': '['.repeat(100_000) }, { message: /SyntaxError/, file: 'blocks/a.js' }],
  ];
  test.each(cases)('%s', async (_name, files, { message, ...position }) => {
    expect(await failure(files)).toMatchObject({ message: expect.stringMatching(message), ...position });
  });
});

describe('a program compiles', () => {
  const cases: [string, Record<string, string>, string[]][] = [
    ['extension left out', { 'blocks/a.js': "import '../lib/b';", 'lib/b.js': '' }, ['blocks/a.js', 'lib/b.js']],
    ['extension given', { 'blocks/a.js': "import './b.js';", 'blocks/b.js': '' }, ['blocks/a.js', 'blocks/b.js']],
    [
      '.js for .ts',
      { 'blocks/a.ts': "import { b } from '../lib/b.js'; export const f = b;", 'lib/b.ts': 'export const b = 1' },
      ['blocks/a.ts', 'lib/b.ts'],
    ],
    ['index', { 'blocks/a.js': "export * from '../lib/x';", 'lib/x/index.ts': '' }, ['blocks/a.js', 'lib/x/index.ts']],
    [
      'a ring',
      { 'blocks/a.js': "import '../lib/b';", 'lib/b.js': "import '../blocks/a.js';" },
      ['blocks/a.js', 'lib/b.js'],
    ],
    [
      'what looks like comments of HTML',
      {
        'blocks/a.js':
          "let n = 3; while (n --> 0); export const f = () => '<!--' + /<!--/ + `-->` + (n < !--n); // <!--",
      },
      ['blocks/a.js'],
    ],
    ['patterns', { 'blocks/a.js': 'export const { a, b: [c, , ...d], ...e } = { b: [] }, f = 1;' }, ['blocks/a.js']],
    [
      "Python's imports",
      {
        'blocks/a.py': 'from . import (\n  b,\n  c\n)\nfrom ..lib import d, \\\n  e\nimport f\nfrom g.h import *\n',
        'blocks/b.py': '',
        'blocks/c.py': '',
        'lib/d.py': '',
        'lib/e.py': '',
        'lib/f.py': '',
        'g/h/__init__.py': '',
        'lib/other.py': '',
      },
      ['blocks/a.py', 'g/h/__init__.py', 'lib/f.py', 'lib/e.py', 'lib/d.py', 'blocks/c.py', 'blocks/b.py'],
    ],
    [
      'types only',
      { 'blocks/a.ts': "import type { X } from 'anywhere'; export const f = (x: X) => x;" },
      ['blocks/a.ts'],
    ],
  ];
  test.each(cases)('%s', async (_name, files, modules) => {
    const program = await createCompiler(inProcess)(programOf(files, Object.keys(files)[0]));
    expect(program.modules.map((module) => module.path)).toEqual(modules);
  });

  test('exports keep their names', async () => {
    const text =
      'export const { a, b: [c, , ...d], ...e } = {}, f = 1;\nexport {\n  a as "x y",\n};\nexport { f as g };';
    const { modules } = await createCompiler(inProcess)(programOf(text));
    const offered = [...(modules[0]?.code ?? '').matchAll(/__offer\("([^"]+)",\(\)=>(\w+)\)/g)].map(
      ([, name, local]) => [name, local],
    );
    expect(offered).toEqual([...['a', 'c', 'd', 'e', 'f'].map((name) => [name, name]), ['x y', 'a'], ['g', 'f']]);
    expect(modules[0]?.code.split('\n').length).toBe(text.split('\n').length + 1);
  });

  test('line numbers are kept', async () => {
    const text =
      "import { b } from '../lib/b';\nexport interface X {\n  a: 1;\n}\nenum E { A }\nexport const f = () => 'LINE6' + E.A + b;";
    const program = await createCompiler(inProcess)(
      programOf({ 'blocks/a.ts': text, 'lib/b.ts': 'export const b = 1;' }, 'blocks/a.ts'),
    );
    expect(program.modules[0]?.code.split('\n').findIndex((line) => line.includes('LINE6'))).toBe(5);
  });
});

test('Python without its package says which command installs it', async () => {
  const program = programOf('def f(context): return 1', 'blocks/a.py');
  const outcome = await compileProgram(inProcess, 'key', program, () => false);
  expect(outcome).toMatchObject({
    error: {
      name: 'DefinitionError',
      message: expect.stringContaining('npm install strapi-plugin-apps-python'),
      position: { file: 'blocks/a.py' },
    },
  });
});
