import type { Attack } from './attack';

type Pair = readonly [open: string, close: string];

/** Pairs inside each other, `depth` times, in a frame. */
const nested = (depth: number, pairs: readonly Pair[], isClosed = true, [before, after]: Pair = ['', '']): string => {
  const open = pairs.map((pair) => pair[0]).join('');
  const close = [...pairs].reverse().map((pair) => pair[1]);
  return `${before}${open.repeat(depth)}1${isClosed ? close.join('').repeat(depth) : ''}${after}`;
};

const numbered = (count: number, piece: string) =>
  Array.from({ length: count }, (_, n) => piece.replaceAll('#', n.toString(36))).join('');

const over = /takes longer than 2000 ms/;
const refused = /takes longer than|too much memory|nested too deeply|SyntaxError/;
const large = /larger than \d+ kB/;

/** A logic file that is not compiled. Its limit is 2 s of processor time: by the clock a busy machine takes longer. */
const broken = (name: string, ending: 'js' | 'ts' | 'py', text: string, has = refused): Attack => ({
  name: `compile-${name}`,
  block: { [ending]: text },
  status: 500,
  has,
  within: 5_000,
});

/** A long logic file: compiled and run, or refused, or over the time of logic when MicroPython reads it. */
const long = (name: string, ending: 'js' | 'ts' | 'py', text: string): Attack => ({
  ...broken(name, ending, text, /./),
  status: [200, 500, 504],
});

/** Files that have stopped a server. */
const seen: readonly Attack[] = [
  { ...broken('generics', 'ts', '<a>('.repeat(24), over), short: true },
  broken('async-generics', 'ts', 'async<a>('.repeat(24), over),
  { ...broken('templates', 'js', '`${'.repeat(3_000)), short: true },
  broken('names', 'js', numbered(140_000, 'let a#;'), large),
  broken('exports', 'js', 'export{};'.repeat(105_000), large),
  long('names-that-fit', 'js', `export const f = () => 1;${numbered(29_000, 'let a#;')}`),
  { ...long('exports-that-fit', 'js', `export const f = () => 1;${'export{};'.repeat(29_000)}`), short: true },
  long('python-dots', 'py', `from ${'.'.repeat(100_000)} import ${'a,'.repeat(70_000)}a\ndef f(c): return 1`),
  broken('markup-comment', 'js', 'let s = 1, x = 1;\ns <!--x; /*\n*/', /<!-- is not available/),
  broken('markup-comment-in-typescript', 'ts', 'let s: number = 1, x = 1;\ns <!--x; /*\n*/', /<!-- is not available/),
];

const x: Pair = ['x=', ';'];
const parameter: Pair = ['class A{f(a=', '){}}'];
const exported: Pair = ['export const f=', ';'];
const body: Pair = ['function f(){', '}'];
const type: Pair = ['<a>(', ')'];
const call: Pair = ['a<b>(', ')'];
const asyncType: Pair = ['async<a>(', ')=>1'];
const field: Pair = ['class A{a=', '}'];
const anonymous: Pair = ['class{a=', '}'];
const tagged: Pair = ['f<a>`${', '}`'];
const returning: Pair = ['(a=', '):b=>1'];
const pattern: Pair = ['({a=', '})=>1'];
const choice: Pair = ['a?(b):', '=>1'];

/** Found by fuzz/compile.test.ts with the seeds 21 to 24 and 31 to 34: exponential in their depth. */
const found: readonly Attack[] = [
  broken('list-of-patterns', 'js', nested(100, [['[', ']'], pattern], true, exported)),
  broken('class-in-call', 'js', nested(30, [anonymous, ['new a(', ')']], true, exported)),
  broken('class-in-template', 'js', nested(30, [['f`${', '}`'], anonymous])),
  broken('class-in-new', 'js', nested(100, [['new ', ''], anonymous], true, body)),
  broken('class-in-not', 'js', nested(24, [anonymous, ['!', '']], true, parameter)),
  broken(
    'default-of-arrow',
    'js',
    nested(
      30,
      [
        ['(a=', ')=>1'],
        ['async(x)=>', ''],
      ],
      true,
      x,
    ),
  ),
  broken('pattern-in-function', 'js', nested(30, [['function(){', '}'], pattern], true, parameter)),
  broken(
    'default-of-async',
    'js',
    nested(
      30,
      [
        ['(', ')'],
        ['async(a=', ')=>1'],
      ],
      true,
      x,
    ),
  ),
  broken('pattern-in-name', 'js', nested(100, [['class{[', '](){}}'], pattern], true, x)),
  broken('pattern-in-brackets', 'js', nested(30, [pattern, ['(', ')']], true, body)),
  broken('async-in-template', 'ts', nested(30, [tagged, ['async(', '):a=>1']], false, parameter)),
  broken('generic-and-not-null', 'ts', nested(400, [type, ['x!', '']], false, x)),
  broken('return-type-and-generic', 'ts', nested(30, [returning, type], false, exported)),
  broken('tagged-and-generic-arrow', 'ts', nested(100, [tagged, ['<a,>(', ')']], true, parameter)),
  broken('tagged-and-class', 'ts', nested(30, [tagged, field], true, body)),
  broken('async-generic-and-new', 'ts', nested(100, [asyncType, ['new a<', '>']], true, body)),
  broken('call-and-cast', 'ts', nested(30, [call, ['<a>', '']], true, body)),
  broken('async-generic-and-decorator', 'ts', nested(100, [asyncType, ['@a(', ')class{}']], true, exported)),
  broken('less-and-call', 'ts', nested(100, [['a<', '>()'], call], false, body)),
  broken('class-and-not', 'ts', nested(100, [field, ['!', '']], true, exported)),
  broken('return-type-and-cast', 'ts', nested(30, [returning, type], true, parameter)),
  broken('cast-and-class', 'ts', nested(24, [type, field])),
  broken('generic-arrow-and-call', 'ts', nested(30, [['<a,>(', ')'], call], true, x)),
  broken('cast-and-tagged', 'ts', nested(24, [type, tagged], false, body)),
  broken('call-and-decorator', 'ts', nested(30, [call, ['@a(', ')class{}']], false, parameter)),
  broken('class-and-choice', 'ts', nested(30, [field, ['a?(', '):1']])),
  broken('cast-and-choice', 'ts', nested(30, [type, choice])),
  broken('choice-and-cast', 'ts', nested(30, [choice, type], true, parameter)),
  broken('tagged-and-call', 'ts', nested(400, [tagged, call], false, parameter)),
  broken('return-type-and-async-generic', 'ts', nested(100, [returning, asyncType], false, x)),
  broken('return-type-and-choice', 'ts', nested(100, [returning, ['a?(b)=>(', '):c']])),
  broken('less-and-async-generic', 'ts', nested(400, [['a<', '>()'], asyncType], false, parameter)),
  broken('class-and-tagged', 'ts', nested(100, [field, tagged], false)),
];

/** As deep as a stack, or deeper. */
const deep: readonly Attack[] = [
  broken('templates-and-classes', 'js', `${'`${'.repeat(40_000)}${numbered(9_000, '1x#class ')}`),
  broken(
    'async-and-functions',
    'js',
    nested(
      2_000,
      [
        ['async(a=', ')=>1'],
        ['function(){', '}'],
      ],
      true,
      exported,
    ),
  ),
  broken(
    'functions-and-minus',
    'js',
    nested(
      19_000,
      [
        ['function(){', '}'],
        ['-', ''],
      ],
      true,
      parameter,
    ),
  ),
  broken(
    'arrows-and-lists',
    'js',
    nested(
      2_000,
      [
        ['x=>{', '}'],
        ['[', ']'],
      ],
      true,
      x,
    ),
  ),
  broken('groups-of-a-pattern', 'js', `x=/${'(a'.repeat(50_000)}${')'.repeat(50_000)}/;`),
  long('python-brackets', 'py', `def f(c): return ${'['.repeat(60_000)}${']'.repeat(60_000)}`),
];

const privateNames = Array.from({ length: 26_000 }, (_, n) => `#p${n};`).join('');

/** As many as fit. */
const many: readonly Attack[] = [
  long('members', 'js', `export const f = () => 1;\nx.${'a.'.repeat(120_000)}b`),
  long('empty-statements', 'ts', `export const f = () => 1;${';'.repeat(240_000)}`),
  long('private-names', 'js', `export const f = () => 1;class A{${privateNames}}`),
  long('labels', 'js', `export const f = () => {${numbered(3_000, 'a#:')};};`),
  long('variables', 'js', `export const f = () => 1;${numbered(29_000, 'var a#;')}`),
  long('exported-names', 'js', `export const f = () => 1;${numbered(16_000, 'export let a#;')}`),
  long('enumerations', 'ts', `export const f = () => 1;enum E {${numbered(29_000, 'a#,')}}`),
  broken(
    'imports-of-a-long-name',
    'js',
    `${numbered(7_000, `import {a as b#} from './${'x'.repeat(4)}#';`)}`,
    /no such file/,
  ),
  long('python-module', 'py', `from a.${'b'.repeat(100_000)} import ${'a,'.repeat(70_000)}a\ndef f(c): return 1`),
  long('python-slices', 'py', `def f(c): return 1\nx = ${'[::1]'.repeat(50_000)}`),
];

/** Attacks on the compilers of logic files. */
export const compile: readonly Attack[] = [...seen, ...found, ...deep, ...many];
