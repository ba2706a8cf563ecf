/**
 * The themes that the requests are sent to, as `path: text`. They are here, not in tests/fixtures, so that two commits
 * are compared with the same apps.
 */
import { brokenBlocks } from './broken-blocks.mjs';

const editable = "acl:\n  rights:\n    editor: ['*']\n";

const theme = {
  'recorded/theme.yaml': 'title: Recorded\ndescription: Apps whose answers are recorded\n',
  'recorded/layout.html': `<!doctype html>
<html lang="en"><head><title>{{ page.title }}</title><style>body { margin: 0 }</style></head>
<body><header>{{ context.portal.title }}{% if context.user %} {{ context.user.username }}{% endif %}</header>
<main>{{ main }}</main><aside class="slot"></aside><footer>end</footer></body></html>
`,
  'recorded/templates/article.html':
    '<h1>{{ context.content.title }}</h1><p>{{ context.content.summary }}</p>{% block "blocks/blocks/hello" %}<div class="after"></div>\n',
  'recorded/templates/portal.html': '<h1>Home</h1>{% block "broken/blocks/throws" %}{% block "absent/blocks/x" %}\n',
  'recorded/rules.yaml': `- append: .after
  include: /@@apps/blocks/blocks/where
  if_path: /articles/first
- before: footer
  include: /@@apps/blocks/blocks/hello?who=rule
  if_path: /articles/s*
- replace: .slot
  include: /@@apps/broken/blocks/throws
  if_path: /articles/second
- append: '(('
  include: /@@apps/blocks/blocks/hello
- before: footer
  inclde: /@@apps/blocks/blocks/hello
`,
  'recorded/assets/site.css': 'body { color: black }\n',
  'recorded/assets/data.json': '{"a": 1}\n',
  'recorded/private.txt': 'private\n',
  'lender/theme.yaml': 'title: Lender\n',
  'lender/apps/lent/settings.yaml': editable,
  'lender/apps/lent/blocks/hello.html': '<p>lent to {{ context.portal.theme }}</p>\n',
  'lender/apps/circle.lnk': 'recorded\n',
  'recorded/apps/lent.lnk': 'lender\n',
  'recorded/apps/circle.lnk': 'lender\n',
  'recorded/apps/lost.lnk': 'nowhere\n',
};

/** Apps with blocks that work. */
const working = {
  'notes/settings.yaml': `debug: false\n${editable}`,
  'notes/assets/app.js': '// public\n',
  'notes/lib/hidden.js': 'export const hidden = 1;\n',
  'notes/blocks/note.yaml': `elements:
  title: { type: TEXT, label: Title, required: true, maxlength: 20, index_type: field }
  total: { type: NUMBER, label: Total, min: 0, max: 10, step: 1, index_type: field }
  _save: { label: Store }
  _edit: { label: Change }
  _delete: { label: Drop }
`,
  'notes/blocks/note.html':
    '<style>.note { color: red } .note::after { content: "{}" }</style><p>{title} {total}</p>{_save}{_edit}{_delete}\n',
  'notes/blocks/all.yaml': `target: ajax
elements:
  basic: BASIC
  text: { type: TEXT, label: Text, placeholder: here, pattern: '[a-z]+', minlength: 2, help: Small letters }
  area: { type: TEXTAREA, maxlength: 10 }
  email: EMAIL
  url: URL
  hidden: { type: HIDDEN, default: kept }
  number: { type: NUMBER, min: 1, max: 5, step: 2 }
  date: { type: DATE, min: 2020-01-01 }
  datetime: DATETIME
  flag: { type: BOOLEAN, default: true, label: Flag }
  select: { type: SELECT, options: [a, { value: b, label: The B }], placeholder: Choose }
  many: { type: SELECT, multiple: true, options: [x, y, z] }
  radio: { type: RADIO, options: [1, 2], required: true }
  boxes: { type: CHECKBOXES, index_type: keyword }
`,
  'notes/blocks/all.js':
    "export const basic = () => ({ title: 'T & t', html: '<i>i</i>' });\nexport const boxes_options = () => ['p', { value: 'q', label: 'Q <q>' }];\nexport const area = () => 'default';\n",
  'notes/blocks/all.html':
    '<h2>{basic.title} {basic[html]}</h2>{text}{area}{email}{url}{hidden}{number}{date}{datetime}{flag}{select}{many}{radio}{boxes}{_save}\n',
  'notes/blocks/counted.yaml': `elements:
  amount: NUMBER
  double: { type: BASIC, mode: COMPUTED_ON_SAVE }
  born: { type: BASIC, mode: COMPUTED_ON_CREATION }
`,
  'notes/blocks/counted.js': `export const double = ({ record }) => record.get('amount', 0) * 2;
export const born = ({ record }) => 'at ' + record.get('amount', 0);
export function record_id({ record }) { if (record.get('name')) return 'named-' + record.get('name'); }
export function on_save({ record }) {
  if (record.get('fail')) throw new Error('refused');
  record.saves = record.get('saves', 0) + 1;
}
export function on_delete({ record, app }) {
  if (record.get('keep')) throw new Error('it stays');
  return app.url + '/blocks/note';
}
`,
  'notes/blocks/values.yaml':
    'elements: { info: BASIC, text: BASIC, number: BASIC, list: BASIC, nothing: BASIC, missing: BASIC, unwritten: BASIC, echo: BASIC, press: { type: ACTION, label: Press }, away: ACTION, write: BASIC, api: BASIC, calls: BASIC }\n',
  'notes/blocks/values.js': `export const info = () => ({ title: 'Information', count: 3 });
export const text = () => '<b>bold</b>';
export const number = () => 42;
export const list = () => [1, 'two', null];
export const nothing = () => null;
export const missing = () => undefined;
export const echo = ({ request }) => ({ method: request.method, path: request.path, query: request.query, body: request.body, name: request.get('name', 'none') });
export const press = ({ app }) => { app.create_record('pressed').inc('total'); return app.url + '/blocks/note'; };
export const away = () => 'https://evil.example/';
export const write = ({ app, request }) => app.create_record(request.get('id', 'written')).id;
export const helper = () => 'no element';
export function api({ api, request }) {
  const { uid = 'api::article.article', method, params } = request.body;
  try { return { value: api.documents(uid)[method](params) }; } catch (error) { return { error: error.name, message: error.message }; }
}
export function calls({ app, content, portal, escape, get_app, request }) {
  const record = app.get_record('call') ?? app.create_record('call');
  record.total = 1;
  record.inc('total', 2);
  request.response.set_header('Cache-Control', 'no-cache');
  return {
    app: [app.id, app.url, [...app.indexes], app.blocks.length ?? null], record: [record.url, record.items(), record.get('none', 'default')],
    found: app.search('total > 0', { sort_index: 'total', reverse: true, limit: 2 }).map(({ id }) => id), count: app.count(),
    content: [content.type ?? null, content.title, content.url], portal: [portal.id, portal.title, portal.url, portal.theme],
    escape: escape('<&"'), other: get_app('books').url, user: app.acl.current_user(), groups: app.acl.current_user_groups(), manager: app.acl.is_manager(),
  };
}
`,
  'books/settings.yaml': editable,
  'books/blocks/book.yaml': `elements:
  title: { type: TEXT, index_type: field }
  total: { type: NUMBER, index_type: field }
  flag: { type: BOOLEAN, index_type: field }
  mixed: { type: BASIC, index_type: field }
  body: { type: TEXTAREA, index_type: text }
  tags: { type: CHECKBOXES, options: [red, green, blue], index_type: keyword }
  note: TEXT
`,
  'rights/settings.yaml':
    'acl:\n  rights:\n    reader: [readers, una]\n    author: [authors]\n    editor: [editors]\n    submitter: [submitters]\n  roles:\n    moderator: [editors]\n',
  'rights/blocks/form.yaml': 'elements: { name: TEXT, who: BASIC }\n',
  'rights/blocks/form.html': '<p>{name}</p>{_save}{_edit}{_delete}\n',
  'rights/blocks/form.js':
    "export const who = ({ app: { acl } }) => [acl.current_user(), acl.current_user_groups(), ['reader', 'author', 'editor', 'submitter'].filter((right) => acl.has_access_right(right)), acl.has_role('moderator'), acl.roles(), acl.is_manager()];\n",
  'rights/blocks/editors.yaml': 'view_permission: editors una\nelements: { value: BASIC }\n',
  'rights/blocks/editors.js': "export const value = () => 'for editors';\n",
  'rights/blocks/editors.html': '<p>{value}</p>\n',
  'closed/blocks/form.html': '<p>closed</p>{_save}\n',
  'empty/settings.yaml': '',
  'empty/blocks/hello.html': '<p>hello</p>\n',
  'debugged/settings.yaml': `debug: true\n${editable}`,
  'debugged/blocks/talk.yaml': 'elements: { word: BASIC, go: { type: ACTION, label: Go }, fails: BASIC }\n',
  'debugged/blocks/talk.js':
    "export const word = ({ app }) => { app.log('hello </script>'); app.log({ a: 1 }); return 'word'; };\nexport const go = ({ app }) => { app.log('going'); return app.url + '/blocks/talk'; };\nexport const fails = () => {\n  throw new TypeError('shown <in> debug mode');\n};\n",
  'debugged/blocks/talk.html': '<p>{word} {undeclared} {fails}</p>{go}\n',
  'typed/settings.yaml': editable,
  'typed/lib/shared.ts': "export const shared: string = 'from lib';\nexport interface Found { id: string }\n",
  'typed/blocks/main.ts':
    "import { type Found, shared } from '../lib/shared';\n\ninterface Context { app: { search(query: string): Found[]; id: string } }\nexport const value = ({ app }: Context): string => shared + ' in ' + app.id;\nexport const found = async ({ app }: Context) => app.search('').map(({ id }: Found) => id);\nexport const fails = (context: Context) => (context as unknown as { no: { such: string } }).no.such;\n",
  'typed/blocks/main.yaml': 'elements: { value: BASIC, found: BASIC, fails: BASIC }\n',
  'typed/blocks/main.html': '<p>{value}</p>{found}{fails}\n',
  'typed/blocks/outside.js': "import { x } from '../../notes/lib/hidden';\nexport const value = () => x;\n",
  'typed/blocks/outside.yaml': 'elements: { value: BASIC }\n',
  'typed/blocks/outside.html': '{value}\n',
  'python/settings.yaml': editable,
  'python/blocks/main.py':
    "def value(context):\n    return 'from %s' % context.app.id\n\ndef data(context):\n    record = context.app.create_record(id='py')\n    record['total'] = 2\n    return {'total': record['total'], 'id': record.id, 'none': None, 'flag': True}\n\ndef fails(context):\n    return [][1]\n\ndef on_save(context):\n    context.record['saved'] = True\n",
  'python/blocks/main.yaml': 'elements: { value: BASIC, data: BASIC, fails: BASIC, name: TEXT }\n',
  'python/blocks/main.html': '<p>{value}</p>{fails}{name}{_save}\n',
  // In an app of its own, called only by a visitor: the line at which a loop is stopped depends on the machine.
  'slow/settings.yaml': editable,
  'slow/blocks/loops.yaml': 'elements: { value: BASIC }\n',
  'slow/blocks/loops.js': 'export function value() {\n  for (;;);\n}\n',
  'slow/blocks/loops.html': '<p>before {value} after</p>\n',
  'blocks/settings.yaml': `with_theme: false\n${editable}`,
  'blocks/blocks/hello.liquid': "<p>hello {{ context.request.query.who | default: 'all' | escape }} <b>x</b></p>\n",
  'blocks/blocks/where.yaml': 'elements: { where: BASIC }\n',
  'blocks/blocks/where.js':
    "export const where = ({ content, request, parent_request }) => [content.title, request.path, parent_request && parent_request.path].join(' | ');\n",
  'blocks/blocks/where.html': '<p>{where}</p>\n',
  'blocks/blocks/themed.yaml':
    'view: { id: themed, with_theme: true }\nelements: { name: { type: TEXT, required: true } }\n',
  'blocks/blocks/themed.html': '<p>{name}</p>{_save}\n',
  'blocks/blocks/bare.yaml': 'view: bare\nelements: { go: { type: ACTION, label: Go } }\n',
  'blocks/blocks/bare.js': "export const go = ({ app }) => app.url + '/blocks/hello';\n",
  'blocks/blocks/bare.html': '<p>bare</p>{go}\n',
  'blocks/blocks/moved.yaml': 'elements: { value: BASIC }\n',
  'blocks/blocks/moved.js':
    "export function on_display({ request, app }) { if (!request.has('stay')) request.response.redirect(app.url + '/blocks/hello'); }\nexport const value = () => 'stayed';\n",
  'blocks/blocks/moved.html': '<p>{value}</p>\n',
  'blocks/blocks/nested.yaml': 'elements: { inner: BASIC }\n',
  'blocks/blocks/nested.js': "export const inner = ({ app }) => app.get_block('hello').url;\n",
  'blocks/blocks/nested.html': '{inner}{% block "notes/blocks/note" %}{% block "blocks/blocks/nested" %}\n',
};

const below = (folder, files) =>
  Object.fromEntries(Object.entries(files).map(([file, text]) => [`${folder}/${file}`, text]));

export const files = {
  ...theme,
  ...below('recorded/apps', working),
  'recorded/apps/broken/settings.yaml': editable,
  ...below('recorded/apps/broken/blocks', brokenBlocks),
  'recorded/apps/badsettings/settings.yaml': 'debug: maybe\nacl:\n  rigths: {}\n',
  'recorded/apps/badsettings/blocks/hello.html': '<p>hello</p>\n',
};
