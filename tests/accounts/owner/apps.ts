/** Apps whose users own records: `tickets` by the right `owner` and no other, `desk` reads them from another app. */
export const ownerApps: Record<string, string> = {
  'apps/tickets/settings.yaml':
    "acl:\n  rights:\n    owner: ['*']\n    submitter: ['*']\n    reader: [readers]\n    editor: [editors]\n",
  'apps/tickets/blocks/ticket.yaml':
    'elements:\n  title: { type: TEXT, index_type: text }\n  state: { type: TEXT, index_type: field }\n  maker: BASIC\n',
  'apps/tickets/blocks/ticket.html': '<h1>{title}</h1>{state}<p class="maker">{maker}</p>{_save}{_edit}{_delete}',
  'apps/tickets/blocks/ticket.js': `
export const maker = ({ record }) => record?.creator?.username ?? 'nobody';
`,
  'apps/tickets/blocks/mine.yaml':
    'refresh: on-change\nelements: { mine: BASIC, creators: BASIC, guess: BASIC, all: BASIC }\n',
  'apps/tickets/blocks/mine.html': '<p class="mine">{mine}</p>',
  'apps/tickets/blocks/mine.js': `
const ids = (records) => records.map(({ id }) => id).sort();
export const mine = ({ app }) => ({
  search: ids(app.search("state == 'open'", { own: true })),
  count: app.count("state == 'open'", { own: true }),
  records: ids(app.records({ own: true })),
  first: ids(app.records({ own: true, limit: 1 })).length,
});
export const all = ({ app }) => app.count();
export const creators = ({ app }) =>
  Object.fromEntries(app.records().map((record) => [record.id, record.creator]));
export const guess = ({ app }) => {
  const record = app.get_record('una-1');
  try { record.creator = 'me' } catch (error) { return error.message; }
};
`,
  'apps/tickets/blocks/python.yaml': 'elements: { mine: BASIC, creators: BASIC }\n',
  'apps/tickets/blocks/python.py': `
def mine(context):
    app = context.app
    return {
        'search': sorted([record.id for record in app.search("state == 'open'", own=True)]),
        'count': app.count("state == 'open'", own=True),
        'records': sorted([record.id for record in app.records(own=True)]),
        'first': len(app.records(limit=1, own=True)),
    }

def creators(context):
    return {record.id: record.creator and {'id': record.creator.id, 'username': record.creator.username} for record in context.app.records()}
`,
  'apps/papers/settings.yaml': "acl:\n  rights:\n    owner: ['*']\n    submitter: ['*']\n    editor: [editors]\n",
  'apps/papers/blocks/paper.yaml': 'elements: { scan: FILE }\n',
  'apps/papers/blocks/paper.html': '{scan}{_save}',
  'apps/desk/settings.yaml': "acl:\n  rights:\n    editor: ['*']\n",
  'apps/desk/blocks/visit.yaml': `elements:
  name: TEXT
  ticket: { type: REFERENCE, label: Ticket, app: tickets, text: state }
  found: { type: REFERENCE, label: Found, app: tickets, text: title }
`,
  'apps/desk/blocks/visit.html': '{name}{ticket}{found}<b>{ticket.state}</b>{_save}{_edit}',
  'apps/desk/blocks/reads.yaml':
    'refresh: on-change\nelements: { seen: BASIC, one: BASIC, changed: BASIC, removed: BASIC }\n',
  'apps/desk/blocks/reads.html': '{seen}',
  'apps/desk/blocks/reads.js': `
const tried = (work) => { try { return work() } catch ({ name, message }) { return [name, message] } };
const tickets = (context) => context.get_app('tickets');
export const seen = (context) => ({
  search: tickets(context).search('').map(({ id }) => id).sort(),
  records: tickets(context).records().map(({ id }) => id).sort(),
  count: tickets(context).count(),
  open: tickets(context).count("state == 'open'"),
});
export const one = (context) => tried(() => tickets(context).get_record(context.request.get('id'))?.items() ?? null);
export const changed = (context) => tried(() => {
  const app = tickets(context);
  const id = context.request.get('id');
  const record = app.get_record(id);
  if (!record) return null;
  record.state = 'seen';
  record.save();
  return record.state;
});
export const removed = (context) => tried(() => tickets(context).delete_record(context.request.get('id')));
`,
};
