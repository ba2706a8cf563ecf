import { type Dimension, numbered, type Plan } from './plan';

/** Adds an element with the value that a form sends for it, and shows it in the layout. */
function element(plan: Plan, name: string, definition: object | string, ...values: string[]): void {
  plan.elements[name] = definition;
  plan.layout.push(`{${name}}`);
  for (const value of values) plan.fields.push([name, value]);
}

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

/** A pattern of the greatest length that a definition may have, which many steps are needed to refuse. */
const pattern = `(?:a|b|ab){1,20}(?:${'[a-z]?'.repeat(80)})x`;

/** What a theme's author can make large (docs/limits.md#theme-files). */
const ofTheme: Record<string, Dimension['add']> = {
  elements: (plan, share) => {
    for (const name of numbered('t', 450 * share)) element(plan, name, { type: 'TEXT', label: name }, 'x'.repeat(100));
  },
  defaults: (plan, share) => {
    for (const name of numbered('d', 300 * share)) element(plan, name, { type: 'TEXT', default: 'd'.repeat(250) }, 'd');
  },
  options: (plan, share) => {
    for (const name of numbered('s', 15 * share))
      element(plan, name, { type: 'SELECT', options: numbers(1_000) }, '999');
  },
  checkboxes: (plan, share) => {
    const sent = numbers(55).map(String);
    for (const name of numbered('c', 15 * share))
      element(plan, name, { type: 'CHECKBOXES', options: numbers(1_000) }, ...sent);
  },
  computedOptions: (plan, share) => {
    for (const name of numbered('o', 20 * share)) {
      element(plan, name, { type: 'RADIO' }, '1');
      plan.functions.push(`export const ${name}_options = () => Array.from({ length: 1000 }, (_, at) => at);`);
    }
  },
  conditions: (plan, share) => {
    const bases = numbered('k', 20);
    for (const name of bases) element(plan, name, 'TEXT', 'v4');
    const values = numbered('v', 5);
    const shown = Object.fromEntries(bases.map((name) => [name, values]));
    for (const name of numbered('w', 60 * share))
      element(plan, name, { type: 'TEXT', required: true, show_if: shown }, 'w');
  },
  repeat: (plan) => {
    const inner = numbered('r', 8);
    element(plan, 'group', {
      type: 'REPEAT',
      max: 100,
      elements: Object.fromEntries(inner.map((name) => [name, { type: 'TEXT', required: true }])),
    });
    for (const entry of numbers(100))
      for (const name of inner) plan.fields.push([`group:${entry}:${name}`, 'x'.repeat(50)]);
  },
  repeatedChoices: (plan) => {
    const inner = numbered('q', 4);
    element(plan, 'choices', {
      type: 'REPEAT',
      max: 100,
      elements: Object.fromEntries(inner.map((name) => [name, { type: 'SELECT', options: numbers(50) }])),
    });
    for (const entry of numbers(100)) for (const name of inner) plan.fields.push([`choices:${entry}:${name}`, '7']);
  },
  repeatedConditions: (plan) => {
    const inner = numbered('i', 8);
    const fields = inner.map((name, at) => [
      name,
      at === 0 ? 'TEXT' : { type: 'TEXT', show_if: { i0: numbered('v', 90) }, required: true },
    ]);
    element(plan, 'shown', { type: 'REPEAT', max: 100, elements: Object.fromEntries(fields) });
    for (const entry of numbers(100)) for (const name of inner) plan.fields.push([`shown:${entry}:${name}`, 'v89']);
  },
  pages: (plan, share) => {
    const all = numbered('p', 400 * share);
    for (const name of all) {
      plan.elements[name] = { type: 'TEXT', required: true };
      plan.fields.push([name, 'p']);
    }
    plan.pages = 20;
    plan.layout.push('{_pages}');
    plan.fields.push(['_page', '0'], ['_seen', numbers(20).join()]);
  },
  patterns: (plan, share) => {
    for (const name of numbered('x', 15 * share)) element(plan, name, { type: 'TEXT', pattern }, 'ab'.repeat(1_900));
  },
  references: (plan, share) => {
    const reference = { type: 'REFERENCE', app: 'attack', multiple: true, text: 'title', query: 'id != null' };
    for (const name of numbered('f', 20 * share)) element(plan, name, reference, ...numbers(20).map((at) => `r${at}`));
    element(plan, 'title', { type: 'TEXT', index_type: 'text' }, 'x');
    plan.items.title = 'some words of a title that are looked for';
    plan.records = Math.max(plan.records, 3_000);
  },
  texts: (plan, share) => {
    for (const name of numbered('y', 100 * share))
      element(plan, name, { type: 'TEXTAREA', index_type: 'text' }, 'word '.repeat(1_500));
  },
  fields: (plan, share) => {
    for (const name of numbered('z', 190 * share))
      element(plan, name, { type: 'TEXT', index_type: 'field' }, 'z'.repeat(200));
  },
  keywords: (plan) => {
    const sent = numbers(200).map(String);
    for (const name of numbered('j', 4))
      element(plan, name, { type: 'CHECKBOXES', options: numbers(1_000), index_type: 'keyword' }, ...sent);
  },
  computed: (plan, share) => {
    for (const name of numbered('u', 190 * share)) {
      element(plan, name, { type: 'TEXT', mode: 'COMPUTED_ON_SAVE', index_type: 'field' });
      plan.functions.push(`export const ${name} = () => 'u'.repeat(500);`);
    }
  },
  functions: (plan, share) => {
    for (const name of numbered('e', 40 * share)) {
      element(plan, name, 'BASIC');
      plan.functions.push(`export const ${name} = () => '<b>x</b>'.repeat(6_000);`);
    }
  },
  hostCalls: (plan) => {
    element(plan, 'called', 'BASIC');
    plan.functions.push(
      "export function called(c) { let n = 0; for (; n < 300; n += 1) c.app.search('id != null', { limit: 20 }); return n; }",
    );
  },
  largeReads: (plan) => {
    element(plan, 'read', 'BASIC');
    plan.functions.push(
      'export function read(c) { let n = 0; for (const record of c.app.records()) n += JSON.stringify(record).length; return n; }',
    );
  },
  content: (plan) => {
    element(plan, 'content', 'BASIC');
    plan.functions.push(
      "export function content(c) { let n = 0; for (; n < 10; n += 1) c.api.documents('api::article.article').findMany({ filters: { $or: Array.from({ length: 60 }, (_, at) => ({ title: { $contains: 'x' + at } })) } }); return n; }",
    );
  },
  outputs: (plan, share) => {
    plan.layout.push('{{ elements }}'.repeat(6_000 * share));
  },
  loops: (plan) => {
    plan.layout.push('{% for i in (1..100) %}{% for j in (1..200) %}{{ j }}{% endfor %}{% endfor %}');
  },
  title: (plan) => {
    plan.keys.title = Object.keys(plan.elements)
      .slice(0, 200)
      .map((name) => `{${name}}`)
      .join(' ');
  },
  mail: (plan) => {
    plan.settings.mail = { to: ['a@example.org'] };
    plan.keys.notify = { to: 'a@example.org', subject: 'x' };
  },
  theme: (plan) => {
    plan.keys.with_theme = true;
    const selectors = numbers(150).map((at) => `main > :not(p${at}) ~ div:nth-child(${at + 1}n) span`);
    plan.files['rules.yaml'] = JSON.stringify(
      selectors.map((css) => ({ theme_place: css, method: 'after', block: '/site/@@apps/healthy/blocks/block' })),
    );
  },
  live: (plan) => {
    plan.keys.refresh = 'on-change';
  },
  shared: (plan) => {
    plan.keys.cache = 60;
  },
};

/** What authors of records can make large (docs/limits.md#records-and-search). */
const ofRecords: Record<string, Dimension['add']> = {
  names: (plan) => {
    for (const name of numbered(`n${'a'.repeat(60)}`, 900)) plan.items[name] = 1;
    plan.records = Math.max(plan.records, 200);
  },
  largeItems: (plan) => {
    plan.items.large = 'word '.repeat(100_000);
    plan.records = Math.max(plan.records, 30);
  },
  nested: (plan) => {
    let value: unknown = 1;
    for (let level = 0; level < 95; level += 1) value = level % 2 ? [value, level] : { level: value };
    plan.items.nested = value;
    plan.items.list = Array.from({ length: 20_000 }, (_, at) => ({ at }));
    plan.records = Math.max(plan.records, 20);
  },
  records: (plan) => {
    plan.records = Math.max(plan.records, 20_000);
  },
  markup: (plan) => {
    plan.elements.body = 'MARKDOWN';
    plan.layout.push('{body}');
    plan.items.body = '*a **b `c` [d](e) > '.repeat(4_900);
    plan.fields.push(['body', plan.items.body as string]);
  },
};

const by = (who: Dimension['by'], all: Record<string, Dimension['add']>): [string, Dimension][] =>
  Object.entries(all).map(([name, add]) => [name, { by: who, add }]);

/** Everything but the requests themselves that can be made large, by name. */
export const dimensions: ReadonlyMap<string, Dimension> = new Map([
  ...by('theme author', ofTheme),
  ...by('author of records', ofRecords),
]);
