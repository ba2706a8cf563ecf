import { gives, memory, type Regression } from './case';
import { files, parameters } from './large-input';

const guard = (name: string, on_display: string, method: 'GET' | 'POST', path: string): Regression => ({
  name: `regression-guard-${name}`,
  definition: 'elements:\n  f: BASIC\n  act: { type: ACTION, label: Act }\n',
  js: `export function on_display({ request }) { ${on_display} }
    export function f({ app }) { app.log('f of regression-guard-${name} ran'); return 'SECRET'; }
    export function act({ app }) { app.log('act of regression-guard-${name} ran'); return 'SECRET'; }`,
  method,
  path,
  status: 303,
  lacks: /SECRET/,
  unprinted: new RegExp(`(f|act) of regression-guard-${name} ran`),
});

/** Functions of a block whose `on_display` redirects do not run. */
const guards: Regression[] = [
  guard('get', `return '/site/';`, 'GET', '/f'),
  guard('post', `return '/site/';`, 'POST', '/f'),
  guard('action', `return '/site/';`, 'POST', '/act'),
  guard('redirect', `request.response.redirect('/site/');`, 'GET', '/f'),
  guard('redirect-action', `request.response.redirect('/site/');`, 'POST', '/act'),
];

const records: Regression[] = [
  ...[1, 2, 3].map((n) => ({
    name: `regression-large-records-${n}`,
    js: `export function f({ app }) { const s = 'x'.repeat(950000); for (let i = 0; i < 12; i++) app.create_record('large-${n}-' + i).set('v', s + i); return 1; }`,
    ...gives(1),
  })),
  {
    name: 'regression-large-records-read',
    js: `export function f({ app }) { try { return app.search('', { limit: 10000 }).length; } catch (error) { return error.name; } }`,
    ...gives('PayloadTooLargeError'),
    calm: 300,
  },
  {
    name: 'regression-many-items',
    js: `export function f({ app }) { const items = {}; for (let i = 0; i < 100000; i++) items['k' + i] = i; app.create_record('many').save(items); return 1; }`,
    status: [200, 500, 504],
    calm: 300,
  },
  {
    name: 'regression-deep-items',
    js: `export function f({ app }) {
      const record = app.create_record('deep');
      return [101, 1000, 7000].map((n) => {
        const items = Array.from({ length: n }).reduce((inner) => ({ inner }), {});
        try { record.set('d', items); return 'ok'; } catch (error) { return error.name; }
      });
    }`,
    status: 500,
    error: 'LogicError',
    message: /nested too deeply/,
  },
  {
    name: 'regression-odd-increments',
    js: `export function f({ app }) {
      const record = app.create_record('increments');
      return [1e308, 1e308, Infinity, NaN, '5', {}, [], 10n].map((by) => { try { return record.inc('t', by); } catch (error) { return error.name; } });
    }`,
    status: 200,
    has: /^\[1e\+308(,"(BadRequest|Type|Range)Error"){7}\]$/,
  },
  {
    name: 'regression-odd-increments-python',
    py: `def f(context):
    record = context.app.create_record(id='increments-python')
    found = []
    for by in (1e308, 1e308, float('inf'), float('nan'), '5', {}, []):
        try:
            found.append(record.inc('t', by))
        except Exception as error:
            found.append(type(error).__name__)
    return found
`,
    status: 200,
    has: /^\[1e\+308(,"OverflowError"){3}(,"TypeError"){3}\]$/,
  },
];

const texts: Regression[] = [
  {
    name: 'regression-large-text',
    js: `export function f() { const s = 'abab'.padEnd(2e8, 'xyz'); const t = [s, s].join(); return [t.length, t.charCodeAt(3e8)]; }`,
    ...memory,
    // The bound is soft: on a fast machine the text is freed before the process is measured.
    status: [200, ...memory.status],
  },
];

const answers: Regression[] = [
  {
    name: 'regression-many-headers',
    js: `export function f({ request }) { for (let i = 0; i < 900; i++) request.response.set_header('x-app-' + i, 'v'.repeat(500)); return 1; }`,
    status: [400, 500],
    headers: { 'x-app-899': null },
  },
  {
    name: 'regression-forged-size',
    py: `def f(context):
    bridge = eval('_bridge')
    bridge('A' + '{"value":[{"defined":true,"value":"' + 'x' * 1500000 + '"}]}')
    eval('_outcome').__globals__['_bridge'] = lambda text: '' if text[:1] == 'A' else bridge(text)
    return 1
`,
    status: 500,
    error: 'LogicError',
  },
  {
    name: 'regression-raw-log',
    py: `def f(context):
    eval('_bridge')('H' + eval('_text')([['log', {'message': 'Q' * 100000, 'stack': ''}]]))
    return 1
`,
    status: [200, 500],
    unprinted: /Q{10241}/,
  },
];

/**
 * A request is not blamed for the memory of another: one that only computes gets its answer, perhaps after it was run
 * again. The other one may succeed for a while, because the memory bound is soft.
 */
const blame: Regression[] = [
  {
    name: 'regression-blame-taker',
    js: `export function f({ app }) {
      const s = new Array(2.6e7).fill('').join('abcdefgh');
      let n = 0;
      for (let i = 0; i < 900; i++) { app.count(); n += s.charCodeAt(i); }
      return n;
    }`,
    status: [200, 500, 504],
  },
  ...[1, 2, 3].map((n) => ({
    name: `regression-blame-${n}`,
    js: `export function f() { const end = Date.now() + 900; let x = 0; while (Date.now() < end) x += Math.sqrt(x + 1); return 'honest'; }`,
    ...gives('honest'),
    beside: 'regression-blame-taker',
    again: true,
  })),
];

/** Many host calls in one message: they end with the request. Reads the large records from above. */
const batch: Regression[] = [
  {
    name: 'regression-batch',
    py: `def f(context):
    large = ' or '.join(["id == 'large-1-%d'" % i for i in range(8)])
    calls = [['search', {'app': None, 'query': large, 'options': {}}] for i in range(60)]
    return str(eval('_bridge')('H' + eval('_text')(calls)))[:300]
`,
    status: [200, 500, 504],
    calm: 300,
  },
  { name: 'regression-after-batch', js: 'export const f = ({ app }) => app.id;', ...gives('hostile'), calm: 300 },
];

/** Attacks that once succeeded, in the order in which they are run. */
export const regressions: readonly Regression[] = [
  ...parameters,
  ...guards,
  ...texts,
  ...answers,
  ...blame,
  ...files,
  ...records,
  ...batch,
];
