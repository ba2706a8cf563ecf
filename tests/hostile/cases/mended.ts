import { type Case, gives, memory } from './case';

/** A case of which more is promised than its answer. */
export interface Mended extends Case {
  /** Milliseconds: the server itself may stand still so long at most. */
  calm?: number;
  /** Must not be in what the server has printed. */
  unprinted?: RegExp;
  /** A case that is asked for again and again meanwhile, five times at once. */
  beside?: string;
  /** It may be run again, and then takes longer than one run. */
  again?: boolean;
}

const article = `api.documents('api::article.article')`;

/** Parameters that are far too large are refused, as an error that can be caught, before anything is done with them. */
const refused = (name: string, call: string): Mended => ({
  name: `mended-${name}`,
  js: `export function f({ api }) { try { return ${article}.${call}; } catch (error) { return error.name; } }`,
  ...gives('BadRequestError'),
  calm: 300,
});

const parameters: Mended[] = [
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
    name: 'mended-and-deep',
    js: `export function f({ api }) {
      const filters = Array.from({ length: 50000 }).reduce((inner) => ({ $and: inner }), {});
      try { return ${article}.count({ filters }); } catch (error) { return error.name; }
    }`,
    status: 200,
    has: /^"(BadRequest|Range)Error"$/,
    calm: 300,
  },
  {
    name: 'mended-populate-many',
    js: `export function f({ api }) { try { return ${article}.findMany({ fields: ['title'], populate: Array.from({ length: 150000 }, () => 'tiles') }).length; } catch (error) { return error.name; } }`,
    status: 200,
    has: /^(1|"BadRequestError")$/,
    calm: 300,
  },
  {
    name: 'mended-or-again',
    js: `export function f({ api }) { for (let i = 0; i < 1000; i++) ${article}.count({ filters: { $or: Array.from({ length: 900 }, (_, n) => ({ title: 'x' + n })) } }); }`,
    status: [200, 500, 504],
    calm: 300,
  },
];

const guard = (name: string, on_display: string, method: 'GET' | 'POST', path: string): Mended => ({
  name: `mended-guard-${name}`,
  definition: 'elements:\n  f: BASIC\n  act: { type: ACTION, label: Act }\n',
  js: `export function on_display({ request }) { ${on_display} }
    export function f({ app }) { app.log('f of mended-guard-${name} ran'); return 'SECRET'; }
    export function act({ app }) { app.log('act of mended-guard-${name} ran'); return 'SECRET'; }`,
  method,
  path,
  status: 303,
  lacks: /SECRET/,
  unprinted: new RegExp(`(f|act) of mended-guard-${name} ran`),
});

/** What `on_display` turns away does not run. */
const guards: Mended[] = [
  guard('get', `return '/site/';`, 'GET', '/f'),
  guard('post', `return '/site/';`, 'POST', '/f'),
  guard('action', `return '/site/';`, 'POST', '/act'),
  guard('redirect', `request.response.redirect('/site/');`, 'GET', '/f'),
  guard('redirect-action', `request.response.redirect('/site/');`, 'POST', '/act'),
];

const records: Mended[] = [
  ...[1, 2, 3].map((n) => ({
    name: `mended-large-records-${n}`,
    js: `export function f({ app }) { const s = 'x'.repeat(950000); for (let i = 0; i < 12; i++) app.create_record('large-${n}-' + i).set('v', s + i); return 1; }`,
    ...gives(1),
  })),
  {
    name: 'mended-large-records-read',
    js: `export function f({ app }) { try { return app.search('', { limit: 10000 }).length; } catch (error) { return error.name; } }`,
    ...gives('PayloadTooLargeError'),
    calm: 300,
  },
  {
    name: 'mended-many-items',
    js: `export function f({ app }) { const items = {}; for (let i = 0; i < 100000; i++) items['k' + i] = i; app.create_record('many').save(items); return 1; }`,
    status: [200, 500, 504],
    calm: 300,
  },
  {
    name: 'mended-deep-items',
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
    name: 'mended-odd-increments',
    js: `export function f({ app }) {
      const record = app.create_record('increments');
      return [1e308, 1e308, Infinity, NaN, '5', {}, [], 10n].map((by) => { try { return record.inc('t', by); } catch (error) { return error.name; } });
    }`,
    status: 200,
    has: /^\[1e\+308(,"(BadRequest|Type|Range)Error"){7}\]$/,
  },
  {
    name: 'mended-odd-increments-python',
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

/** Layouts and definitions take a second at most, and the server is asked for other things meanwhile. */
const files: Mended[] = [
  {
    name: 'mended-many-elements',
    js: 'export const f = () => 1;',
    layout: '{f}'.repeat(66666),
    path: '',
    status: [200, 500],
    calm: 1200,
  },
  {
    name: 'mended-many-conditions',
    js: 'export const f = () => 1;',
    layout: `{% if a${' or a'.repeat(39000)} %}x{% endif %}`,
    path: '',
    status: [200, 500],
    calm: 1200,
  },
  {
    name: 'mended-large-definition',
    definition: `elements:\n  f: BASIC\n${Array.from({ length: 7000 }, (_, i) => `  a${i}: {type: TEXT, label: x}\n`).join('')}`,
    js: 'export const f = () => 1;',
    status: [200, 500],
    calm: 300,
  },
  {
    name: 'mended-many-patterns',
    layout: `${patterns.map((_, i) => `{p${i}}`).join('')}{_save}`,
    definition: `elements:\n  _save: { label: Save }\n${patterns.join('')}`,
    method: 'POST',
    path: '',
    form: { _save: 'Save', ...Object.fromEntries(patterns.map((_, i) => [`p${i}`, 'a'.repeat(4000)])) },
    status: [200, 201, 303, 422, 500],
    calm: 1200,
  },
];

const texts: Mended[] = [
  {
    name: 'mended-large-text',
    js: `export function f() { const s = 'abab'.padEnd(2e8, 'xyz'); const t = [s, s].join(); return [t.length, t.charCodeAt(3e8)]; }`,
    ...memory,
    // The bound is soft: on a fast machine the text is gone before the process is looked at.
    status: [200, ...memory.status],
  },
];

const answers: Mended[] = [
  {
    name: 'mended-many-headers',
    js: `export function f({ request }) { for (let i = 0; i < 900; i++) request.response.set_header('x-app-' + i, 'v'.repeat(500)); return 1; }`,
    status: [400, 500],
    headers: { 'x-app-899': null },
  },
  {
    name: 'mended-forged-size',
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
    name: 'mended-raw-log',
    py: `def f(context):
    eval('_bridge')('H' + eval('_text')([['log', {'message': 'Q' * 100000, 'stack': ''}]]))
    return 1
`,
    status: [200, 500],
    unprinted: /Q{10241}/,
  },
];

/**
 * The memory that one takes is not another's fault: who has only computed has its answer, be it after its request has been
 * run again. What is beside it may pass for a while, for memory is bounded softly.
 */
const blame: Mended[] = [
  {
    name: 'mended-blame-taker',
    js: `export function f({ app }) {
      const s = new Array(2.6e7).fill('').join('abcdefgh');
      let n = 0;
      for (let i = 0; i < 900; i++) { app.count(); n += s.charCodeAt(i); }
      return n;
    }`,
    status: [200, 500, 504],
  },
  ...[1, 2, 3].map((n) => ({
    name: `mended-blame-${n}`,
    js: `export function f() { const end = Date.now() + 900; let x = 0; while (Date.now() < end) x += Math.sqrt(x + 1); return 'honest'; }`,
    ...gives('honest'),
    beside: 'mended-blame-taker',
    again: true,
  })),
];

/** Many host calls in one message: they end with the request. Reads the large records of above. */
const batch: Mended[] = [
  {
    name: 'mended-batch',
    py: `def f(context):
    large = ' or '.join(["id == 'large-1-%d'" % i for i in range(8)])
    calls = [['search', {'app': None, 'query': large, 'options': {}}] for i in range(60)]
    return str(eval('_bridge')('H' + eval('_text')(calls)))[:300]
`,
    status: [200, 500, 504],
    calm: 300,
  },
  { name: 'mended-after-batch', js: 'export const f = ({ app }) => app.id;', ...gives('hostile'), calm: 300 },
];

export const mended: readonly Mended[] = [
  ...parameters,
  ...guards,
  ...texts,
  ...answers,
  ...blame,
  ...files,
  ...records,
  ...batch,
];
