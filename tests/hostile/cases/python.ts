import { type Case, gives, throws } from './case';

/** Each of these expressions must raise one of these errors; gives those that did not. */
const raising = (errors: string, expressions: readonly string[]) => `def f(context):
    out = []
    for s in ${JSON.stringify(expressions)}:
        try: out.append([s, str(eval(s))[:80]])
        except BaseException as e:
            if type(e).__name__ not in '${errors}': out.append([s, repr(e)[:80]])
    return out
`;

const modules =
  `js jsffi os sys io uos usys uio uctypes gc machine micropython socket usocket network _thread select builtins vfs
  uasyncio asyncio ffi struct array deflate platform webrepl ssl pyscript _js framebuf __main__ strapi lib lib.one ..lib.one
  blocks __init__ /etc/passwd ../../../../etc/passwd`.split(/\s+/);

/** An answer written by hand, and sent past the prelude. */
const forged = (name: string, answer: string, expected: Partial<Case>): Case => ({
  name: `python-forged-${name}`,
  py: `def f(context):
    bridge = eval('_bridge')
    bridge('A' + ${answer})
    eval('_outcome').__globals__['_bridge'] = lambda text: '' if text[:1] == 'A' else bridge(text)
    return 1
`,
  status: 500,
  ...expected,
});

/** Python: its modules, its memory, and the bridge between its interpreter and the host. */
export const python: readonly Case[] = [
  {
    name: 'python-modules',
    py: raising(
      'ImportError',
      modules.map((name) => `__import__(${JSON.stringify(name)})`),
    ),
    ...gives([]),
  },
  {
    name: 'python-evaluated',
    py: raising('NameError AttributeError ImportError SyntaxError TypeError', [
      `open('/etc/passwd').read()`,
      `__import__('os').listdir('/')`,
      'input()',
      'help()',
      `compile('1', 'x', 'eval').x`,
      '().__class__.__base__.__subclasses__()',
      'context.app.get_record.__code__',
    ]),
    ...gives([]),
  },
  {
    name: 'python-format',
    py: `def f(context):
    out = []
    for s in ["{0.__class__}", "{0.__class__.__init__.__globals__}", "{0.app.__class__}"]:
        try: out.append(s.format(context))
        except NotImplementedError: pass
    return out
`,
    ...gives([]),
  },
  {
    name: 'python-relative-import',
    py: 'from ..lib import x\nimport lib.y\ndef f(context): return 1\n',
    ...throws(/^ImportError/),
  },
  {
    name: 'python-native',
    py: '@micropython.native\ndef b(): return 1\ndef f(context): return b()\n',
    ...throws(/^SyntaxError/),
  },
  {
    name: 'python-calls-caught',
    py: `def f(context):
    for i in range(3000):
        try: context.app.count()
        except BaseException: pass
`,
    ...throws(/more than 1000 host calls/),
  },
  {
    name: 'python-private-shapes',
    py: `def f(context):
    out = []
    d = context.api.documents('api::article.article')
    for k in ({'fields': ['secret']}, {'filters': {'secret': {'$notNull': True}}}, {'sort': 'secret'}):
        try: out.append(str(d.findMany(**k))[:80])
        except Exception as e:
            if type(e).__name__ not in ('BadRequestError', 'ForbiddenError'): out.append(repr(e)[:80])
    return out
`,
    ...gives([]),
  },
  {
    name: 'python-patched-modules',
    py: `import json, time, random, collections
json.dumps = lambda *a, **k: '"forged"'
time.time = lambda: 666
random.random = lambda: 0.5
collections.left = 1
def f(context):
    for s in ("str = 5", "_json = 5", "context.__class__.left = 1", "context.app.__class__.search = lambda *a, **k: ['forged']"):
        try: exec(s)
        except BaseException: pass
    return [1]
`,
    status: [200, 500],
    lacks: /forged/,
  },
  {
    name: 'python-patched-builtins',
    py: `def f(context):
    eval('builtins').len = lambda x: 42
    eval('Context').left = 'behind'
    eval('_json').dumps = lambda *a: '"forged"'
    eval('_MODULES')['left'] = eval('_json')
    return 'patched'
`,
    status: [200, 500],
    lacks: /forged/,
  },
  {
    name: 'python-bridge-left',
    py: `def f(context):
    b = eval('_bridge')
    b.left = 'behind'
    return b.left
`,
    ...throws(/./),
  },
  {
    name: 'python-memory-outside',
    py: `def f(context):\n    return str(eval('uctypes').bytes_at(0x7ffffff0, 4096))\n`,
    ...throws(/./),
  },
  {
    name: 'python-memory-tables',
    py: `def f(context):
    u = eval('uctypes')
    junk = b'\\xff' * 65536
    for base in range(0x60000, 0x90000, 65536): u.bytearray_at(base, 65536)[:] = junk
    return 'smashed'
`,
    status: 500,
  },
  {
    name: 'python-memory-search',
    // Returns the memory before the words that it searches: the answer must not name anything of the machine.
    py: `def f(context):
    u = eval('uctypes')
    hits = []
    for base in range(0, 16 << 20, 65536):
        try: s = bytes(u.bytes_at(base, 65536))
        except BaseException: break
        for k in (b'/tm', b'node_mod', b'PAT', b'HOM', b'/roo', b'top-secr'):
            i = s.find(k)
            if i >= 0: hits.append(str(s[max(0, i - 20):i + 40]))
        if len(hits) > 60: break
    return hits
`,
    status: 200,
    lacks: /PATH=|HOME=|\/root\//,
  },
  {
    name: 'python-bridge-texts',
    py: `def f(context):
    b = eval('_bridge')
    for t in ['', 'null', '[]', '{}', '{"fn":"getRecord","args":{"app":null,"id":"x"}}', '["getRecord",{"app":"other","id":"x"}]', '[' * 100000, '\\x00', '{"__proto__":{"x":1}}']:
        if str(b(t)) != '': return t
    return 'nothing'
`,
    ...gives('nothing'),
  },
  {
    name: 'python-bridge-calls-raw',
    // Names and arguments that the prelude does not send: none may exceed the rights of the logic's requester.
    py: `def f(context):
    b = eval('_bridge'); t = eval('_text'); out = []
    for c in [['constructor', {}], ['__proto__', {}], ['toString', {}], ['getRecord', {'app': 'other', 'id': 'x'}], ['getRecord', {'app': 'nope', 'id': 'x'}],
        ['documents', {'uid': 'api::article.article', 'method': 'constructor', 'params': {}}], ['documents', {'uid': 'admin::user', 'method': 'findMany', 'params': {}}],
        ['respond', {'changes': {'headers': {'set-cookie': 'a=b'}}}], ['respond', {'changes': {'redirect': '//evil.example'}}],
        ['respond', {'changes': {'headers': {'x-app-a': 'b\\r\\nset-cookie: c=d'}}}], ['search', {'app': 'other', 'query': '', 'options': {}}],
        ['saveRecord', {'app': 'other', 'id': 'x', 'block': 'open'}], ['getRecord', {'app': {'x': 1}, 'id': 'x'}]]:
        answer = str(b('H' + t([c])))
        if '"error"' not in answer: out.append([str(c)[:60], answer[:120]])
    return out
`,
    ...gives([]),
    headers: { 'set-cookie': null, location: null },
  },
  forged('error', `'{"error":{"name":"UnauthorizedError","message":"forged","stack":"","host":0}}'`, {
    error: 'LogicError',
  }),
  forged(
    'inner-error',
    `'{"value":[{"error":{"name":"ForbiddenError","message":"forged <b>","stack":"at /etc/passwd:1","host":0}}]}'`,
    { error: 'LogicError', lacks: /passwd/ },
  ),
  forged('error-below-zero', `'{"value":[{"error":{"name":"X","message":"m","stack":"","host":-1}}]}'`, {
    error: 'LogicError',
  }),
  forged('error-number', `'{"error":{"name":"ServiceUnavailableError","message":"","stack":"","host":1e308}}'`, {
    error: 'LogicError',
    headers: { 'retry-after': null },
  }),
  forged('two-values', `'{"value":[{"defined":true,"value":1},{"defined":true,"value":1}]}'`, { status: [200, 500] }),
  forged('nothing', `''`, { error: 'LogicError' }),
];

/**
 * One visitor's text, and another visitor who searches the interpreter's memory for it; the second finds its own text, which
 * proves that the search works. Named so that they run one after the other.
 */
export const marks: readonly Case[] = [
  {
    name: 'python-memory-mark-left',
    py: `def f(context):
    m = 'MARK' + 'ER-OF-A-VISIT' + chr(79) + chr(82)
    return len([m + str(i) * 40 for i in range(40000)])
`,
    ...gives(40000),
  },
  {
    name: 'python-memory-mark-sought',
    py: `def f(context):
    u = eval('uctypes'); others = 0; own = 0
    mark = bytes([77, 65, 82, 75, 69, 82, 45, 79, 70, 45, 65, 45, 86, 73, 83, 73, 84])
    mine = [mark + b'ME' for i in range(100)]
    for base in range(0, 16 << 20, 65536):
        try: s = bytes(u.bytearray_at(base, 65536))
        except BaseException: break
        i = s.find(mark)
        while i >= 0:
            if s[i + 17:i + 19] == b'OR': others += 1
            if s[i + 17:i + 19] == b'ME': own += 1
            i = s.find(mark, i + 1)
    return [others, own >= 100]
`,
    ...gives([0, true]),
  },
];
