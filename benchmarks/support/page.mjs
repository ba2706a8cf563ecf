/** A page of some 3 kB by Liquid: alone, with ten blocks without logic, and with ten of which five have logic. */

const text = '<p>The quick brown fox jumps over the lazy dog.</p>\n'.repeat(60);
const tags = (ids) => ids.map((id) => `{% block "page/blocks/${id}" %}`).join('');
const numbers = Array.from({ length: 10 }, (_, at) => at);
const still = numbers.map((at) => `still${at}`);
const mixed = numbers.map((at) => (at % 2 ? `logic${at}` : `still${at}`));

const reading = numbers.map((at) => (at % 2 ? `read${at}` : `still${at}`));

const layout = `<!doctype html>
<html lang="en"><head><title>{{ context.portal.title }}</title></head>
<body><main>{{ main }}</main></body></html>`;
const body = `<h1>{{ context.portal.title }}</h1>{% for n in (1..5) %}<i>{{ n }}</i>{% endfor %}\n${text}`;

const block = (id, withLogic) => ({
  [`apps/page/blocks/${id}.html`]: '<p>{total} {name}</p>',
  [`apps/page/blocks/${id}.yaml`]: 'elements: { total: BASIC, name: TEXT }\n',
  ...(withLogic ? { [`apps/page/blocks/${id}.js`]: `export function total() { return '${id}'; }\n` } : {}),
});

const reads = (at) => ({
  ...block(`read${at}`, false),
  [`apps/page/blocks/read${at}.js`]:
    "export function total({ app }) { return String(app.get_record('shown')?.get('n') ?? 0); }\n",
});

export const page = {
  layout,
  body,
  files: {
    'layout.html': layout,
    'templates/portal.html': `${body}
{% if context.request.query.with == 'blocks' %}${tags(still)}{% endif %}
{% if context.request.query.with == 'logic' %}${tags(mixed)}{% endif %}
{% if context.request.query.with == 'reads' %}${tags(reading)}{% endif %}`,
    'apps/page/settings.yaml': "acl: { rights: { editor: ['*'] } }\n",
    ...Object.assign(
      {},
      ...still.map((id) => block(id, false)),
      ...numbers.map((at) => block(`logic${at}`, true)),
      ...numbers.map(reads),
    ),
  },
  /** The scenarios' requests, at the address of the page. */
  requests: (path) =>
    Object.fromEntries(
      [
        ['page', ''],
        ['page-blocks', '?with=blocks'],
        ['page-logic', '?with=logic'],
        ['page-reads', '?with=reads'],
      ].map(([id, query]) => [id, [{ method: 'GET', path: path + query, headers: { accept: 'text/html' } }]]),
    ),
};
