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
