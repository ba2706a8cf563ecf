/** Modules that authors look for. */
const names = `
datetime time random re json math collections string itertools functools operator copy decimal fractions statistics calendar html urllib.parse hashlib base64 binascii uuid textwrap unicodedata locale csv io sys os os.path socket threading subprocess asyncio logging typing dataclasses enum abc struct array heapq bisect zlib gc errno platform pathlib pickle requests urllib.request http.client js jsffi ctypes uctypes
`;
export const modules = names
  .trim()
  .split(/\s+/)
  .map((name) => ({ name }));

/** Small programs whose value `x` shows how a feature behaves, and what CPython 3.12 gives. */
export const features: { feature: string; code: string; cpython: string; note?: string }[] = [
  {
    feature: 'order of a dictionary',
    code: "x = list({'b': 1, 'a': 2, 'c': 3, 'z': 4, 'm': 5})",
    cpython: "['b', 'a', 'c', 'z', 'm']",
  },
  {
    feature: '`OrderedDict`',
    code: "from collections import OrderedDict\nx = list(OrderedDict([('b', 1), ('a', 2), ('c', 3)]))",
    cpython: "['b', 'a', 'c']",
  },
  { feature: 'f-string', code: "n = 3\nx = f'{n} of {n * 2}'", cpython: '3 of 6' },
  { feature: 'f-string with a format', code: "x = f'{3.14159:.2f}'", cpython: '3.14' },
  { feature: 'f-string with `!r`', code: 'x = f\'{"a"!r}\'', cpython: "'a'" },
  { feature: 'f-string with `=`', code: "n = 3\nx = f'{n=}'", cpython: 'n=3' },
  { feature: 'nested quotes in an f-string', code: "d = {'k': 1}\nx = f\"{d['k']}\"", cpython: '1' },
  { feature: '`format()`', code: "x = '{:>5}|{:<5}|{:,}'.format('a', 'b', 1234567)", cpython: '    a|b    |1,234,567' },
  { feature: '`%` formatting', code: "x = '%05.1f %s' % (2.5, 'a')", cpython: '002.5 a' },
  { feature: 'a list backwards, `[::-1]`', code: 'x = [1, 2, 3][::-1]', cpython: '[3, 2, 1]' },
  { feature: 'a text backwards, `[::-1]`', code: "x = 'abc'[::-1]", cpython: 'cba' },
  { feature: 'merged dictionaries, `{**a}`', code: "a = {'k': 1}\nx = {**a}", cpython: "{'k': 1}" },
  { feature: '`a | b` of dictionaries', code: "x = {'k': 1} | {'k': 2}", cpython: "{'k': 2}" },
  { feature: 'walrus `:=`', code: 'x = 0\nif (n := 5) > 3:\n    x = n', cpython: '5' },
  { feature: '`match`', code: "match 3:\n    case 3:\n        x = 'three'", cpython: 'three' },
  { feature: '`try` … `except*`', code: 'try:\n    x = 1\nexcept* ValueError:\n    x = 2', cpython: '1' },
  { feature: 'type hints', code: 'def f(a: int) -> int:\n    return a\nx = f(2)', cpython: '2' },
  { feature: 'class', code: "class A:\n    def f(self):\n        return 'a'\nx = A().f()", cpython: 'a' },
  {
    feature: '`@property`',
    code: 'class A:\n    @property\n    def f(self):\n        return 1\nx = A().f',
    cpython: '1',
  },
  { feature: 'generator', code: 'def g():\n    yield 1\n    yield 2\nx = list(g())', cpython: '[1, 2]' },
  { feature: 'comprehension', code: 'x = sorted({n % 3 for n in range(9)})', cpython: '[0, 1, 2]' },
  { feature: 'whole numbers of any size', code: 'x = 2 ** 100', cpython: '1267650600228229401496703205376' },
  { feature: '`0.1 + 0.2`', code: 'x = 0.1 + 0.2', cpython: '0.30000000000000004' },
  { feature: '`round()`', code: 'x = round(2.675, 2)', cpython: '2.67' },
  { feature: '`str(KeyError("k"))`', code: "x = str(KeyError('k'))", cpython: "'k'" },
  {
    feature: '`sorted(key=…)` keeps ties in order',
    code: "x = sorted(['b1', 'a2', 'a1'], key=lambda s: s[0])",
    cpython: "['a2', 'a1', 'b1']",
  },
  {
    feature: '`zfill`, `title`, `rjust`',
    code: "x = '7'.zfill(3) + ' ab cd'.title() + 'x'.rjust(3)",
    cpython: '007 Ab Cd  x',
  },
  { feature: '`str.split(maxsplit=…)`', code: "x = 'a b c'.split(maxsplit=1)", cpython: "['a', 'b c']" },
  { feature: '`casefold()`', code: "x = 'Straße'.casefold()", cpython: 'strasse' },
  { feature: '`lower()` of letters with accents', code: "x = 'ÉCOLE'.lower()", cpython: 'école' },
  {
    feature: '`re.findall`, `re.sub` with a function',
    code: "import re\nx = re.sub('[a-z]', lambda m: m.group(0).upper(), 'a1b2')",
    cpython: 'A1B2',
  },
  {
    feature: 'named groups',
    code: "import re\nx = re.match(r'(?P<y>[0-9]{4})', '2026-01').group('y')",
    cpython: '2026',
  },
  { feature: 'look-behind', code: "import re\nx = re.findall(r'(?<=a)b', 'ab cb')", cpython: "['b']" },
  {
    feature: '`strftime`, `strptime`',
    code: "from datetime import datetime\nx = datetime.strptime('2026-03-01', '%Y-%m-%d').strftime('%d.%m.%Y')",
    cpython: '01.03.2026',
  },
  {
    feature: '`timedelta`',
    code: 'from datetime import date, timedelta\nx = str(date(2026, 2, 28) + timedelta(days=1))',
    cpython: '2026-03-01',
  },
  {
    feature: '`json.dumps(indent=…)`',
    code: "import json\nx = json.dumps({'a': 1}, indent=1)",
    cpython: '{\n "a": 1\n}',
  },
  {
    feature: '`Counter`',
    code: "from collections import Counter\nx = Counter('aab').most_common(1)",
    cpython: "[('a', 2)]",
  },
  {
    feature: '`defaultdict`',
    code: "from collections import defaultdict\nd = defaultdict(int)\nd['a'] += 1\nx = d['a']",
    cpython: '1',
  },
  {
    feature: '`namedtuple`',
    code: "from collections import namedtuple\nP = namedtuple('P', 'a b')\nx = P(1, 2).b",
    cpython: '2',
  },
  { feature: 'assigning to a slice with a step', code: 'x = [1, 2, 3, 4]\nx[::2] = [9, 9]', cpython: '[9, 2, 9, 4]' },
  { feature: '`open()`', code: "x = open('/etc/passwd').read()[:4]", cpython: 'root' },
  { feature: '`input()`', code: 'x = input()', cpython: 'EOFError' },
];

const code = (text: string) => `\`${text.replaceAll('|', '\\|').replaceAll('\n', '⏎')}\``;

/** The table of modules. */
export function tableOfModules(found: boolean[]): string {
  const named = (there: boolean) =>
    modules
      .filter((_, at) => found[at] === there)
      .map(({ name }) => `\`${name}\``)
      .join(', ');
  return ['| Modules | Names |', '|---|---|', `| There | ${named(true)} |`, `| Not there | ${named(false)} |`, ''].join(
    '\n',
  );
}

/** The table of features: what each gives here, where that is not what CPython gives. */
export function tableOfFeatures(answers: { value?: string; error?: string }[]): string {
  const rows = features.map(({ feature, cpython, note }, at) => {
    const { value, error } = answers[at] ?? {};
    const here = value === undefined ? (error ?? '').replace(/^.*?: (?=\w*Error)/s, '') : value;
    const same = value === cpython;
    return { same, row: `| ${feature} | ${same ? 'same' : (note ?? code(here))} | ${same ? '' : code(cpython)} |` };
  });
  const sorted = [...rows].sort((a, b) => Number(a.same) - Number(b.same));
  return ['| Feature | Here | CPython |', '|---|---|---|', ...sorted.map(({ row }) => row), ''].join('\n');
}
