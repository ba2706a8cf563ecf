/**
 * Apps in the site's theme (docs/reference/site.md#apps-in-the-theme): the layout, and one rule that puts a block into
 * it.
 */
export const layout =
  '<html><head><title>{{ page.title }}</title></head><body id="themed"><nav></nav>{{ main }}</body></html>';
export const rules = '- { append: nav, include: /@@apps/around/blocks/around }\n';
const editors = "acl:\n  rights:\n    editor: ['*']\n";

const definition = `elements:
  name: { type: TEXT, required: true }
  go: { type: ACTION }
  leave: { type: ACTION }
  fail: { type: ACTION }
  said: BASIC
  _save: { label: Save }
`;
const form = '<p>{name} {go} {leave} {fail} {said} {_save}</p>';
const logic = `export function go({ app }) { app.create_record('gone').save({ n: 1 }); }
export function leave({ app }) { return app.get_block('form').url; }
export function fail() { throw new Error('broken'); }
export const said = ({ request }) => 'said ' + (request.query.q ?? '');
`;
const block = (app: string, name: string, more = '') => ({
  [`${app}/blocks/${name}.html`]: form,
  [`${app}/blocks/${name}.js`]: logic,
  [`${app}/blocks/${name}.yaml`]: more + definition,
});

/** Files of the apps, by their paths. */
export const files: Record<string, string> = {
  'themed/settings.yaml': `with_theme: true\n${editors}`,
  ...block('themed', 'form'),
  ...block('themed', 'bare', 'with_theme: false\n'),
  ...block('themed', 'view', 'view: own\n'),
  ...block('themed', 'bare-view', 'view: { id: own-bare, with_theme: false }\n'),
  ...block('themed', 'shut', 'view_permission: [eric]\n'),
  'bare/settings.yaml': editors,
  ...block('bare', 'form'),
  ...block('bare', 'in', 'with_theme: true\n'),
  ...block('bare', 'view', 'view: { id: in-theme, with_theme: true }\n'),
  ...block('bare', 'bare-view', 'view: bare\n'),
  ...block('bare', 'half', 'with_theme: false\nview: { id: half, with_theme: true }\n'),
  'bare/locales/en.yaml': `blocks:
  plain:
    elements: { _save: { label: Send it }, _delete: { confirm: Really? } }
`,
  'bare/blocks/plain.html': '{name} {_save} {_delete}',
  'bare/blocks/plain.yaml': 'elements: { name: TEXT }\n',
  'bare/blocks/words.html': `{{ elements.article | raw }}`,
  'bare/blocks/words.yaml': 'with_theme: true\nelements: { article: BASIC }\n',
  'bare/blocks/words.js': `export const article = ({ request }) => request.get('article');`,
  'bare/blocks/nameless.html': '{name} {_save}',
  'bare/blocks/nameless.yaml': 'elements: { name: TEXT }\n',
  'bare/blocks/nameless.js': `export const record_id = ({ record }) => record.name;`,
  'bare/blocks/todo.html': `{% for item in elements.items %}<button name="action.done" value="{{ item.id }}">{{ item.text }}</button>{% endfor %}`,
  'bare/blocks/todo.yaml': 'elements:\n  items: BASIC\n  done: { type: ACTION, confirm: Is it done? }\n',
  'bare/blocks/todo.js': `export const items = ({ app }) => app.search('', { block: 'todo' }).map((record) => record.items());
export function done({ app, request }) { app.delete_record(request.get('action.done')); }
export function all({ app }) { return app.count('', { block: 'todo' }); }
`,
  'bare/blocks/logs.yaml': 'elements: { logged: BASIC }\n',
  'bare/blocks/logs.js': `export function logged({ app }) { console.info('one'); app.log('two'); return app.messages; }`,
  'around/settings.yaml': editors,
  'around/blocks/around.html': '{seen}',
  'around/blocks/around.yaml': 'elements: { seen: BASIC }\n',
  'around/blocks/around.js': `export function seen({ app, parent_request: page, request }) {
  let wrote = '';
  try { app.create_record().save({}); wrote = 'wrote'; } catch { wrote = 'refused'; }
  return JSON.stringify([wrote, request.method, page.method, Object.keys(page.form).length, page.body === null]);
}
`,
};
