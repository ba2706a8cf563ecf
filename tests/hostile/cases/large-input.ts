import { article, gives, type Regression } from './case';

/** Parameters that are far too large are refused, as an error that can be caught, before they are used. */
const refused = (name: string, call: string): Regression => ({
  name: `regression-${name}`,
  js: `export function f({ api }) { try { return ${article}.${call}; } catch (error) { return error.name; } }`,
  ...gives('BadRequestError'),
  calm: 300,
});

export const parameters: readonly Regression[] = [
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

const patterns = Array.from({ length: 30 }, (_, i) => `  p${i}: { type: TEXT, pattern: "${'(a|a)*'.repeat(160)}" }\n`);

/** Layouts and definitions take a second at most, while the server gets other requests. */
export const files: readonly Regression[] = [
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
