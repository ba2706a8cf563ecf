import { expect, test } from 'vitest';
import { processorTime } from '../../../server/src/common/testing/processor-time';
import { diagnose } from './diagnose';

const cases: [text: string, line: number, position: string, message: RegExp][] = [
  ['def f(context)\n    return 1', 1, '1:15', /":" is missing at the end of "def"/],
  ['def f(c):\n    if c.x = 1:\n        pass', 2, '2:12', /write "=="/],
  ['def f(c):\n    return (1 + 2\n\ndef g(c):\n    pass', 4, '2:12', /"\(" is never closed/],
  ['def f(c):\n    return [1)', 2, '2:14', /"\)" does not close the "\[" of line 2/],
  ['x = 1)\n', 1, '1:6', /closes no bracket/],
  ["x = 'abc\ny = 1", 1, '1:5', /the text that begins with ' has no end/],
  ['def f(c):\n    print c', 2, '2:5', /write print/],
  ['def f(c):\nreturn 1', 2, '2:1', /an indented line is expected/],
  ['x = 1\n    y = 2', 2, '2:5', /indented deeper/],
  ['def f(c):\n    a = 1\n\tb = 2', 3, '3:1', /tabs and spaces/],
  ['def f(c):\n    if c:\n        pass\n    else if c:\n        pass', 4, '4:5', /"elif"/],
  ['def f(c):\n    return c && 1', 2, '2:14', /"and"/],
  ['def f(c):\n    c++', 2, '2:6', /\+= 1/],
  ['const x = 1', 1, '1:1', /JavaScript/],
  ['x = "a (" # (\nif x\n    pass', 2, '2:5', /":" is missing/],
];
test.each(cases)('the mistake in %j is found', (text, line, position, message) => {
  const found = diagnose(text, line);
  expect(`${found?.line}:${found?.column} ${found?.message}`).toMatch(message);
  expect(`${found?.line}:${found?.column}`).toBe(position);
});

test.each([
  ['def f(c):\n    return {"a": [1, 2], **c}', 2],
  ['x = """\n(\n"""\ny = x', 4],
  ['', 3],
])('nothing is recognised in %j', (text, line) => {
  expect(diagnose(text, line)).toBeNull();
});

test('a diagnosis takes time in proportion to the text', async () => {
  const texts = ['('.repeat(250_000), '\n'.repeat(250_000), `${'x '.repeat(120_000)}=`, "'\n".repeat(120_000)];
  expect(await processorTime(() => texts.map((text) => diagnose(text, 100_000)))).toBeLessThan(2_000);
});
