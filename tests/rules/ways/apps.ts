/** Apps with the same blocks and other settings: what the rules of an author are tried on. */
const rights = `acl:
  rights:
    owner: [strangers]
    submitter: [submitters, Public]
    reader: [readers]
    author: [authors]
    editor: [editors]
`;

const entry = `self_service: [view, edit, delete]
elements:
  title: { type: TEXT, required: true }
  code: { type: TEXT, pattern: '[A-Z]{2}' }
  age: { type: NUMBER, min: 18, max: 99 }
  colour: { type: SELECT, options: [red, green] }
  target: { type: REFERENCE, app: targets, text: title }
  private: { type: REFERENCE, app: private, text: title }
  party: { type: BOOLEAN }
  guests: { type: NUMBER, required: true, show_if: { party: true } }
  kind: { type: SELECT, options: [company, club] }
  vat: { type: TEXT, show_if: { kind: company } }
  paper: { type: FILE }
  letter: { type: FILE }
  stamp: { type: BASIC, mode: COMPUTED_ON_SAVE }
  origin: { type: BASIC, mode: COMPUTED_ON_CREATION }
  state: { type: TEXT, readonly: true, default: new }
  remark: { type: TEXT, pattern: '[a-z]+', show_if: { state: new } }
`;

/** The same with states instead of an element that has their name. */
const staged = `states: { new: { to: [done], by: [] }, done: {} }
${entry.replace(/ {2}state:.*$/s, '')}`;

const logic = `
export const stamp = ({ record }) => 'stamp of ' + record.title;
export const origin = () => 'made here';
export function validate(context) {
  const { title, code } = context.request.form;
  if (title === 'Refused ' + code) context.invalid('title', 'Not this title.');
}
`;

/** Each function writes, and fails where the title has its name. */
const failing = `
function fail({ app, record, request }, name) {
  const title = record?.title ?? request.form.title;
  if (title !== name) return;
  app.create_record('half');
  throw new TypeError('a mistake in ' + name);
}
export const validate = (context) => fail(context, 'validate');
export const stamp = (context) => fail(context, 'stamp');
export const record_id = (context) => fail(context, 'record_id');
export const on_save = (context) => fail(context, 'on_save');
`;

/** Stores what is sent: of a request, of a call from code, and of the text of an article. */
const tool = `
function store({ app }, { id, items, isChange }) {
  if (isChange) app.get_record(id).save(items);
  else app.create_record(id).save(items, { creation: Boolean(items.block) });
}
export const make = (context) => store(context, context.request.body);
export function caught(context) {
  context.app.create_record('beside').set({ block: 'entry' });
  try { store(context, context.request.body) } catch {}
  return 'done';
}
export function assigned({ app, request }) {
  app.get_record(request.body.id).set(request.body.items);
}
export const called = (context) => store(context, context.params);
export function heard(context) {
  const sent = JSON.parse(context.content.body);
  if (sent.app === context.app.id) store(context, sent);
}
`;

const layout =
  '{title}{code}{age}{colour}{target}{private}{party}{guests}{kind}{vat}{paper}{letter}<p>{stamp}{origin}{state}</p>{remark}{_save}{_edit}';

const blocks: Record<string, string> = {
  'entry.yaml': entry,
  'entry.js': logic,
  'entry.html': layout,
  'other.yaml': 'elements: { title: TEXT }\n',
  'other.html': '{title}{_save}{_edit}',
  'closed.yaml': `view_permission: []\n${entry}`,
  'closed.js': logic,
  'closed.html': layout,
  'staged.yaml': staged,
  'staged.js': logic,
  'staged.html': layout.replace('{state}', '{_state}'),
  'failing.yaml': 'elements: { title: TEXT, stamp: { type: BASIC, mode: COMPUTED_ON_SAVE } }\n',
  'failing.js': failing,
  'failing.html': '{title}<p>{stamp}</p>{_save}',
  'tool.yaml': 'elements: { make: BASIC, caught: BASIC, assigned: BASIC }\n',
  'tool.js': tool,
};

/** Settings of each app, before its rights. */
export const appSettings = {
  strict: 'strict: true\n',
  free: '',
  shut: 'json: none\n',
  proved: 'strict: true\nproof_of_work: true\n',
  'proved-free': 'proof_of_work: true\n',
};

export type AppName = keyof typeof appSettings;

/** The app with the same rules whose forms can be saved as drafts: there a form may name no file of others at all. */
export const withDrafts = (app: AppName) => `${app}-drafts`;

const draftBlocks = Object.fromEntries(
  Object.entries(blocks).map(([file, text]) => [
    file,
    file.endsWith('.yaml') && text.includes('self_service') ? `drafts: true\n${text}` : text,
  ]),
);

export const ruleApps: Record<string, string> = {
  ...Object.fromEntries(
    Object.entries(appSettings).flatMap(([app, settings]) => [
      [`apps/${app}/settings.yaml`, `${settings}${rights}`],
      ...Object.entries(blocks).map(([file, text]) => [`apps/${app}/blocks/${file}`, text]),
      [`apps/${withDrafts(app as AppName)}/settings.yaml`, `${settings}${rights}`],
      ...Object.entries(draftBlocks).map(([file, text]) => [`apps/${withDrafts(app as AppName)}/blocks/${file}`, text]),
    ]),
  ),
  'apps/targets/settings.yaml': "acl: { rights: { reader: ['*'] } }\n",
  'apps/private/settings.yaml': 'acl: { rights: { reader: [readers] } }\n',
};
