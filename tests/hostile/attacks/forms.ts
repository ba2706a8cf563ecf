import type { Attack } from './attack';

type Fields = Record<string, string | string[]>;

const many = <T>(count: number, one: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => one(index));
const lines = (count: number, one: (index: number) => string): string => many(count, one).join('\n');

/** A layout that shows every element of a definition, or its pages. */
const layoutOf = (yaml: string): string =>
  yaml.startsWith('pages:')
    ? '{_pages}'
    : `${[...yaml.matchAll(/^ {2}(\w+):/gm)].map(([, element]) => `{${element}}`).join(' ')} {_save}`;

/** A form that is sent at once, often: shown again with its messages. */
const sent = (name: string, yaml: string, fields: Fields, count: number, more: Partial<Attack> = {}): Attack => ({
  name: `forms-${name}`,
  block: { yaml, html: layoutOf(yaml) },
  requests: many(count, () => ({
    path: '/site/@@apps/attack/blocks/{id}',
    headers: { accept: 'text/html' },
    form: { ...fields, _save: '1' },
  })),
  status: 422,
  within: 10_000,
  ...more,
});

/** 100 entries of 8 fields, each wrong. */
const entries: Fields = Object.fromEntries(
  many(100, (at) => many(8, (field): [string, string] => [`rows:${at}:f${field}`, 'x'])).flat(),
);
const repeated = `elements:
  rows:
    type: REPEAT
    max: 100
    elements:
${lines(8, (field) => `      f${field}: { type: NUMBER, label: Field ${field}, required: true, help: A number }`)}
`;

/** Conditions on a field of which 900 values are sent: 20 names in each, of 100 values. */
const condition = `{ ${many(20, (name) => `t${name}: { not: [${many(100, (value) => `v${value}`).join()}] }`).join(', ')} }`;
const conditions = `elements:
${lines(20, (at) => `  t${at}: TEXT`)}
${lines(70, (at) => `  e${at}: { type: NUMBER, show_if: ${at === 0 ? `&x ${condition}` : '*x'} }`)}
`;

/** 20,000 options in all. */
const values = `[${many(1_000, (at) => `value${at}`).join()}]`;
const options = `elements:
${lines(20, (at) => `  e${at}: { type: SELECT, options: ${at === 0 ? `&o ${values}` : '*o'} }`)}
  wrong: { type: NUMBER, required: true }
`;

/** A pattern for which each character of a text takes hundreds of steps; the form may take two million. */
const pattern = `elements:
${lines(40, (at) => `  e${at}: { type: TEXT, pattern: '${'(a|a)*'.repeat(60)}b' }`)}
`;
const texts: Fields = Object.fromEntries(many(40, (at) => [`e${at}`, 'a'.repeat(4_000)]));

/** Pages of as many elements as they may have. */
const pages = `pages:
${lines(20, (page) => `  - { title: Page ${page}, elements: [${many(24, (at) => `e${page * 24 + at}`).join()}] }`)}
elements:
${lines(480, (at) => `  e${at}: { type: NUMBER, label: Number ${at}, required: true }`)}
`;
const numbers: Fields = Object.fromEntries(many(480, (at) => [`e${at}`, 'x']));

/** Forms at their limits, which a visitor sends many times at once. */
export const forms: readonly Attack[] = [
  sent('entries', repeated, entries, 24),
  sent('conditions', conditions, { t0: many(900, (at) => `w${at}`), e0: 'x' }, 24, { status: [422, 500] }),
  sent('options', options, { wrong: 'x' }, 24),
  sent('patterns', pattern, texts, 24),
  sent('pages', pages, numbers, 24, { status: [200, 422] }),
];
