/** The form of the app `checked`, which the same logic in two languages refuses. */
const definition = `title: 'Book {room} now'
elements:
  room: { type: TEXT, label: Room, required: true }
  guests: { type: NUMBER, label: Guests }
  hall: { type: RADIO, label: Hall, options: [east, west] }
  how: { type: SELECT, options: [form, action, save, id, twice, thrown] }
  count: BASIC
  book: { type: ACTION, validates: true }
  peek: { type: ACTION }
  odd: { type: ACTION }
  _save: { label: Send }
`;

const javascript = `export function validate(context) {
  const { request } = context;
  context.app.create_record('by-validate').save({ n: 1 });
  if (Number(request.get('guests')) > 9) context.invalid('guests', 'At most <9> guests');
  if (request.get('how') === 'form') context.invalid(null, 'The house is closed');
  if (request.get('how') === 'form') context.invalid('hall', 'That hall is closed');
  if (request.get('how') === 'thrown') throw new Error('validate broke');
}
export const count = ({ app }) => 'records ' + app.count();
export function book({ app, invalid, request }) {
  app.create_record('booked').save({ n: 1 });
  if (request.get('how') === 'action') invalid({ element: 'room', message: 'That room is taken' });
}
export function peek(context) {
  context.app.create_record('peeked').save({ n: 1 });
  if (context.request.get('how') === 'action') context.invalid('', 'Nothing to see');
}
export function odd(context) { context.invalid('roomm', 'no such element'); }
export function record_id(context) {
  if (context.record.how === 'id') context.invalid('room', 'No id for that');
  return context.record.room;
}
export function on_save(context) {
  context.app.create_record('log-' + context.record.id).save({ n: 1 });
  if (context.record.how === 'save') context.invalid('room', 'Not on Sundays');
  if (context.record.how === 'twice') {
    context.invalid('room', 'First.');
    context.invalid('room', 'Second.');
  }
}
export function on_delete(context) {
  context.app.create_record('log-deleted').save({ n: 1 });
  if (context.record.room === 'Kept') context.invalid(null, 'This room is kept');
}
`;

const python = `def validate(context):
    if int(context.request.get('guests') or 0) > 9:
        context.invalid('guests', 'At most <9> guests')
    if context.request.get('how') == 'form':
        context.invalid(None, 'The house is closed')

def on_save(context):
    if context.record['how'] == 'save':
        context.invalid(element='room', message='Not on Sundays')

def on_delete(context):
    context.app.create_record('log-deleted').save({'n': 1})
    if context.record['room'] == 'Kept':
        context.invalid(None, 'This room is kept')
`;

const layout = '{room} {guests} {hall} {how} {count} {book} {peek} {odd} {_save} {_edit}';
const everyone = "acl:\n  rights:\n    editor: ['*']\n";

export const visitorsApps: Record<string, string> = {
  'layout.html':
    '<!doctype html><html lang="en"><head><title>{{ page.title }} | site</title></head><body id="themed"><main>{{ main }}</main><script src="{{ context.portal.url }}/@@apps.js" defer></script></body></html>',
  'apps/checked/settings.yaml': everyone,
  'apps/checked/blocks/form.yaml': definition,
  'apps/checked/blocks/form.html': layout,
  'apps/checked/blocks/form.js': javascript,
  'apps/checked/blocks/snake.yaml': definition,
  'apps/checked/blocks/snake.html': layout,
  'apps/checked/blocks/snake.py': python,
  'apps/checked/blocks/early.yaml': 'elements: { part: BASIC }\n',
  'apps/checked/blocks/early.html': '{part}',
  'apps/checked/blocks/early.js': "export const part = ({ invalid }) => invalid(null, 'too early');\n",
  'apps/checked/blocks/outer.yaml': 'elements: { store: ACTION, drop: ACTION }\n',
  'apps/checked/blocks/outer.html': '{store} {drop}',
  'apps/checked/blocks/outer.js': `export function store({ app }) {
  const made = app.create_record('inner');
  try { made.save({ room: 'x', how: 'save' }, { block_id: 'form' }); } catch {}
}
export const drop = ({ app }) => app.delete_record('kept');
`,
  // Members only: everybody sees the form, users may send it.
  'apps/members/settings.yaml': 'with_theme: true\nacl:\n  rights:\n    reader: [authors]\n    author: [authors]\n',
  'apps/members/blocks/note.yaml': `title: A note
view: note
elements:
  text: { type: TEXTAREA, label: Text, required: true }
  password: { type: TEXT, label: Not a login }
  tags: { type: CHECKBOXES, label: Tags, options: [a, b, c] }
  add: { type: ACTION, label: Add }
  seen: BASIC
  _save: { label: Send }
  _edit: { label: Edit }
  _delete: { label: Delete }
`,
  'apps/members/blocks/note.html': '{text} {password} {tags} {seen} {add} {_save} {_edit} {_delete}',
  'apps/members/blocks/note.js': `export function add() {}
export const seen = ({ request }) => 'form has ' + Object.keys(request.form).sort().join();
`,
  'apps/members/blocks/letter.yaml': 'elements: { text: TEXT, letter: FILE }\n',
  'apps/members/blocks/letter.html': '{text} {letter} {_save}',
  'apps/members/blocks/shut.yaml':
    'title: The results\nview_permission: [authors]\nelements: { text: TEXT, go: ACTION }\n',
  'apps/members/blocks/shut.html': '{text} {go}',
  'apps/members/blocks/shut.js': 'export function go() {}\n',
  'apps/members/blocks/quick.yaml': 'target: ajax\nelements: { text: { type: TEXT, required: true }, add: ACTION }\n',
  'apps/members/blocks/quick.html': '{text} {add} {_save}',
  'apps/members/blocks/quick.js': 'export function add() {}\n',
  'apps/finder/blocks/find.yaml':
    'target: ajax\nview: { id: find, with_theme: true }\ntitle: Find\nelements: { q: { type: TEXT, label: Words }, go: { type: ACTION, label: Search }, found: BASIC }\n',
  'apps/finder/blocks/find.html':
    '<div data-apps-history>{q} {go}</div><p class="found">{found}</p><p><a target="ajax" data-apps-history href="?q=second&page=2">Page 2</a></p>',
  'apps/finder/blocks/find.js': `export const q = ({ request }) => request.get('q', '');
export function go() {}
export const found = ({ request, escape }) => 'found ' + escape(request.get('q', 'nothing')) + ' page ' + escape(request.get('page', '1'));
`,
};
