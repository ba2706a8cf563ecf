import { describe, expect, test } from 'vitest';
import { processorTime } from '../../common/testing/processor-time';
import { rewritePython } from './python';

describe('syntax that MicroPython does not support is rewritten', () => {
  const cases: [string, string][] = [
    ['x[::-1]', 'x.__slice__(None,None,-1)'],
    ['"abc"[1:n:2]', '"abc".__slice__(1,n,2)'],
    ['f(a)[b[0]:c[1:2]:-1][::2]', 'f(a).__slice__(b[0],c[1:2],-1).__slice__(None,None,2)'],
    ['x[1:2]', 'x[1:2]'],
    ['x[::2] = y', 'x[::2] = y'],
    ['del x[::2]', 'del x[::2]'],
    ['if x[::2] == y: pass', 'if x.__slice__(None,None,2) == y: pass'],
    ['[{1: 2}, {3: 4}]', '[{1: 2}, {3: 4}]'],
    ['{**a, "b": 1}', '_merged(a,{ "b": 1})'],
    ['{"a": 1, **b, **c}', '_merged({"a": 1}, b, c)'],
    ['[*a, 1]', '_joined(a,[ 1])'],
    ['[x * y]', '[x * y]'],
    ['f(*a, **b)', 'f(*a, **b)'],
    ['return [*a]', 'return _joined(a)'],
    ["'x[::-1]' # y[::-1]", "'x[::-1]' # y[::-1]"],
    ['"""\nx[::-1]\n"""', '"""\nx[::-1]\n"""'],
    ["r'\\'[::1]", "r'\\'[::1]"],
    ['from lib.text import *', "_import_all('lib.text', 0, globals())"],
    ['  from ..lib import *', "  _import_all('lib', 2, globals())"],
    ['from . import *', "_import_all('', 1, globals())"],
    ['x[lambda: 1::2]', 'x[lambda: 1::2]'],
    ["f'{x[::-1]}'", "f'{x[::-1]}'"],
    ['x[::-1', 'x[::-1'],
    ['x]', 'x]'],
  ];
  test.each(cases)('%s', (text, expected) => {
    expect(rewritePython(text)).toBe(expected);
  });

  test('line numbers are kept', () => {
    const text = 'a = {\n  **b,\n\n  "c": d[\n::-1],\n}\nraise x';
    expect(rewritePython(text).split('\n').indexOf('raise x')).toBe(text.split('\n').indexOf('raise x'));
  });
});

describe('the rewriter takes little time', () => {
  const parts = [
    '[',
    'x[',
    '"""',
    "'",
    '"\\',
    '(\n',
    '{**a,',
    '.',
    'import (',
    'from .',
    ' ',
    '#',
    'del ',
    '[::1]',
    '\\',
  ];
  test.each(parts)('%j, repeated', async (part) => {
    const text = part.repeat(100_000 / part.length);
    const rewrite = () => [text, `from ${text}`].map((one) => rewritePython(one));
    expect(await processorTime(rewrite)).toBeLessThan(2000);
  });
});
