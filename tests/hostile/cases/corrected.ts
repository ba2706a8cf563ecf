import { type Case, gives, memory } from './case';

/** An attack that once succeeded: a case with further expectations besides its answer. */
export interface Regression extends Case {
  /** Maximum milliseconds for which the server's event loop may be blocked. */
  calm?: number;
  /** Must not match the server's output. */
  unprinted?: RegExp;
  /** A case that five clients request repeatedly meanwhile. */
  beside?: string;
  /** The server may run the request again, which takes longer than one run. */
  again?: boolean;
}

const article = `api.documents('api::article.article')`;

/** Parameters that are far too large are refused, as an error that can be caught, before they are used. */
const refused = (name: string, call: string): Regression => ({
  name: `regression-${name}`,
  js: `export function f({ api }) { try { return ${article}.${call}; } catch (error) { return error.name; } }`,
  ...gives('BadRequestError'),
  calm: 300,
});

const parameters: Regression[] = [
  refused('in', 'count({ filters: { id: { $in: Array.from({ length: 40000 }, (_, i) => i) } } })'),
  refused(
    'or',
    `count({ filters: { $or: Array.from({ length: 5000 }, (_, i) => ({ title: { $contains: 'x' + i } })) } })`,
  ),
  refused('or-many', `count({ filters: { $or: Array.from({ length: 20000 }, (_, i) => ({ title: 'x' + i })) } })`),
  refused('sort', `findMany({ fields: ['title'], sort: Array.from({ length: 10000 }, () => 'title:asc') }).length`),
  refused('fields', `findMany({ fields: Array.from({ length: 50000 }, () => 'title') }).length`),
  refused('sort-path', `findMany({ sort: 'tiles.'.repeat(200000) + 'id' }).length`),
  refused('populate-path', `findMany({ populate: 'localizations.'.repeat(20000) + 'id' }).length`),
  refused('long-text', `count({ filters: { body: { $contains: 'a'.repeat(1900000) } } })`),
  refused(
    'not-deep',
    `count({ filters: Array.from({ length: 9000 }).reduce((inner) => ({ $not: inner }), { title: 'x' }) })`,
  ),
  refused('private-in-list', `count({ filters: { title: [{ secret: { $notNull: true } }] } })`),
  refused('between', `count({ filters: { title: { $between: 'x' } } })`),
  refused('json-operator', `findMany({ filters: { title: { $jsonSupersetOf: '{}' } } }).length`),
  {
    name: 'regression-and-deep',
    js: `export function f({ api }) {
      const filters = Array.from({ length: 50000 }).reduce((inner) => ({ $and: inner }), {});
      try { return ${article}.count({ filters }); } catch (error) { return error.name; }
    }`,
    status: 200,
    has: /^"(BadRequest|Range)Error"$/,
    calm: 300,
  },
  {
    name: 'regression-populate-many',
    js: `export function f({ api }) { try { return ${article}.findMany({ fields: ['title'], populate: Array.from({ length: 150000 }, () => 'tiles') }).length; } catch (error) { return error.name; } }`,
    status: 200,
    has: /^(1|"BadRequestError")$/,
    calm: 300,
  },
  {
    name: 'regression-or-again',
    js: `export function f({ api }) { for (let i = 0; i < 1000; i++) ${article}.count({ filters: { $or: Array.from({ length: 900 }, (_, n) => ({ title: 'x' + n })) } }); }`,
    status: [200, 500, 504],
    calm: 300,
  },
];

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

const patterns = Array.from({ length: 30 }, (_, i) => `  p${i}: { type: TEXT, pattern: "${'(a|a)*'.repeat(160)}" }\n`);

/** Layouts and definitions take a second at most, while the server gets other requests. */
const files: Regression[] = [
  {
    name: 'regression-many-elements',
    js: 'export const f = () => 1;',
    layout: '{f}'.repeat(66666),
    path: '',
    status: [200, 500],
    calm: 1200,
  },
  {
    name: 'regression-many-conditions',
    js: 'export const f = () => 1;',
    layout: `{% if a${' or a'.repeat(39000)} %}x{% endif %}`,
    path: '',
    status: [200, 500],
    calm: 1200,
  },
  {
    name: 'regression-large-definition',
    definition: `elements:\n  f: BASIC\n${Array.from({ length: 7000 }, (_, i) => `  a${i}: {type: TEXT, label: x}\n`).join('')}`,
    js: 'export const f = () => 1;',
    status: [200, 500],
    calm: 300,
  },
  {
    name: 'regression-many-patterns',
    layout: `${patterns.map((_, i) => `{p${i}}`).join('')}{_save}`,
    definition: `elements:\n  _save: { label: Save }\n${patterns.join('')}`,
    method: 'POST',
    path: '',
    form: { _save: 'Save', ...Object.fromEntries(patterns.map((_, i) => [`p${i}`, 'a'.repeat(4000)])) },
    status: [200, 201, 303, 422, 500],
    calm: 1200,
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
