/** The apps that the fuzzer fills: one block with every kind of rule, in an app that is not strict and in two that are. */

const acl = `acl:
  rights:
    submitter: [Public, submitters, strangers]
    owner: [strangers]
    author: [authors]
    editor: [editors]
`;

const settings = {
  free: acl,
  strict: `strict: true\n${acl}`,
  opened: `strict: true\njson: { submitter: write }\n${acl}`,
};

export type AppName = keyof typeof settings;
export const apps = Object.keys(settings) as AppName[];

const blocks: Record<string, string> = {
  'order.yaml': `elements:
  name: { type: TEXT, required: true, maxlength: 10 }
  code: { type: TEXT, pattern: '[A-Z]{2}[0-9]{2}', index_type: field }
  count: { type: NUMBER, required: true, min: 1, max: 9, step: 1 }
  size: { type: SELECT, options: [s, m, l] }
  tags: { type: CHECKBOXES, options: [x, y, z] }
  agree: BOOLEAN
  gift: BOOLEAN
  text: { type: TEXT, required: true, maxlength: 5, show_if: { gift: true } }
  from: NUMBER
  to: NUMBER
  friend: { type: REFERENCE, app: APP, text: name }
  guests:
    type: REPEAT
    max: 2
    elements: { who: { type: TEXT, required: true }, age: { type: NUMBER, min: 0 } }
  plan: { type: TEXT, readonly: true, default: basic }
  total: { type: BASIC, mode: COMPUTED_ON_SAVE }
  made: { type: BASIC, mode: COMPUTED_ON_CREATION }
`,
  'order.html':
    '{name}{code}{count}{size}{tags}{agree}{gift}{text}{from}{to}{friend}{guests}{plan}{total}{made}{_save}{_edit}{_delete}',
  'order.js': `
const last = (value) => [value].flat().at(-1) ?? '';
export const total = ({ record }) => record.count * 2 + (record.gift ? 1 : 0);
export const made = ({ record }) => 'first:' + record.count;
export function validate(context) {
  const [from, to, code] = ['from', 'to', 'code'].map((name) => last(context.request.form[name]));
  if (from !== '' && to !== '' && Number(from) > Number(to)) context.invalid('to', 'This is before the first one.');
  const isTaken = ({ id, block }) => block === 'order' && id !== context.record?.id;
  if (code !== '' && context.app.search('code == wanted', { names: { wanted: code } }).some(isTaken))
    context.invalid('code', 'This code is taken.');
}
export const on_save = ({ record }) => { record.saved = (record.get('saved') || 0) + 1; };
`,
  'note.yaml': `elements:
  title: { type: TEXT, required: true, maxlength: 5 }
  block: { type: HIDDEN, index_type: field }
  plan: { type: TEXT, readonly: true, default: note }
  made: { type: BASIC, mode: COMPUTED_ON_CREATION }
`,
  'note.html': '{title}{block}{plan}{made}{_save}{_edit}{_delete}',
  'note.js': "export const made = ({ record }) => 'note:' + record.title;\n",
  'tools.yaml': 'elements: { save: ACTION }\n',
  // Catches the refusal: the request has to be refused all the same.
  'tools.js': `
export function save({ app, request: { body } }) {
  const record = body.id ? app.get_record(body.id) : app.create_record();
  if (!record || (body.id && record.get('block') !== 'order')) return;
  try {
    record.save(body.items, { block_id: 'order', creation: !body.id });
  } catch {}
}
`,
};

/** The files of the apps below the folder of themes. */
export const fuzzFiles: Record<string, string> = Object.fromEntries(
  apps.flatMap((app) => [
    [`main/apps/${app}/settings.yaml`, settings[app]],
    ...Object.entries(blocks).map(([file, text]) => [`main/apps/${app}/blocks/${file}`, text.replace('APP', app)]),
  ]),
);
