import { beforeAll, beforeEach, describe } from 'vitest';
import { configured } from '../support/configure';
import { availableClients } from '../support/databases';
import { useDatabase, useStage, useThemes } from '../support/hooks';
import { useTimer } from '../support/timers';
import { refusedConfirmations } from './receipts/attacks';
import { receiptBrowsers } from './receipts/browsers';
import { receiptLimits } from './receipts/limits';
import { setUp } from './receipts/mails';
import { waitingRecords } from './receipts/records';

const layout =
  '{name} {email} {_save}<p>{{ block.places.taken }} of {{ block.places.limit }}, {{ block.places.state }}</p>';

const layouts: Record<string, string> = {
  plain: '{name} {email} {born} {day} {_save}',
  queue: '{name} {email} {day} {_save}',
  again: '{name} {email} {cv} {_save}',
};

const told = `receipt: { to: email }
notify: { to: "{requester}", subject: "New: {name}" }
states: { new: { notify: { to: "{requester}", subject: "In new: {name}" } } }
`;

const blocks: Record<string, string> = {
  join: `title: Join us
receipt: { to: email, subject: "Welcome, {name}", block: told, confirm: true }
notify: { to: office@example.org, subject: "New: {name}" }
self_service: [view, edit, delete]
elements:
  name: { type: TEXT, index_type: field }
  email: { type: EMAIL, unique: true }
  day: DATETIME
  cv: FILE`,
  told: 'elements: { name: TEXT }',
  plain: 'receipt: { to: email }\nself_service: [view]\nelements: { name: TEXT, email: EMAIL, born: DATE, day: DATE }',
  seat: 'limit: 1\nreceipt: { to: email, confirm: true }\nelements: { name: TEXT, email: EMAIL }',
  list: 'limit: 1\nwaiting_list: true\nreceipt: { to: email, confirm: true }\nself_service: [delete]\nelements: { name: TEXT, email: EMAIL }',
  queue:
    'limit: 1\nwaiting_list: true\nreceipt: { to: email, subject: "See you, {name}", block: told }\nself_service: [view]\nelements: { name: TEXT, email: EMAIL, day: DATE }',
  again: 'drafts: true\nreceipt: { to: email, confirm: true }\nelements: { name: TEXT, email: EMAIL, cv: FILE }',
  once: 'limit_per_requester: 1\nreceipt: { to: email, confirm: true }\nelements: { name: TEXT, email: EMAIL }',
  moved:
    'receipt: { to: email, confirm: true }\nstates: { new: { to: [done], notify: { to: office@example.org, subject: "In new: {name}" } }, done: {} }\nelements: { name: TEXT, email: EMAIL }',
  asked: `${told}elements: { name: TEXT, email: EMAIL }`,
  sure: `${told.replace('to: email', 'to: email, confirm: true')}elements: { name: TEXT, email: EMAIL }`,
  look: 'elements: { all: BASIC, one: BASIC, shown: BASIC, make: ACTION, mark: ACTION }',
  refers: 'elements: { ref: { type: REFERENCE, app: events, text: name } }',
};

const logic = `
export const all = ({ app }) => [app.count(), app.search('').length, app.records({ limit: 10 }).length, app.count("name == 'Anna'")];
export const one = ({ app, request }) => String(app.get_record(request.get('id')) === null);
export const shown = ({ app, request }) => app.get_block('join').display({ record: app.get_record(request.get('id')) ?? request.get('id') });
export function make({ app }) { const made = app.create_record('by-logic'); made.save({ name: 'L', email: 'l@example.org' }, { block_id: 'join' }); return made._state ?? 'none'; }
export function mark({ app, request }) { app.get_record(request.get('id'))._state = null; }
`;

const onSave = `
export function on_save({ record, app }) { record.seen = String(record._state); record.found = String(app.get_record(record.id) !== null); }
export function on_delete({ app, record, invalid }) {
  app.create_record('gone-' + record.name).name = 'on_delete ran';
  if (record.name === 'refused') invalid(null, 'This stays');
  if (record.name === 'failed') throw new Error('This fails');
}
`;

describe.each(await availableClients())('receipts on %s', (client) => {
  const themes = useThemes(async (copy) => {
    for (const app of ['events', 'other']) {
      await copy.write(
        `main/apps/${app}/settings.yaml`,
        "acl: { rights: { submitter: ['*'], reader: ['readers'], editor: ['editors'] } }\nvisitor: true\nhistory: true\nmail: { to: ['office@example.org'], to_requester: true }\nwebhooks: { out: { url: 'https://hooks.example.org/x', events: [create, update, delete] } }\n",
      );
      await copy.write(`main/apps/${app}/blocks/join.yaml`, `${blocks.join}\n`);
      await copy.write(`main/apps/${app}/blocks/join.html`, '{name} {email} {day} {cv} {_save}');
      await copy.write(`main/apps/${app}/blocks/told.yaml`, `${blocks.told}\n`);
      await copy.write(`main/apps/${app}/blocks/told.html`, '<p>Dear {name}, <a href="{link}">{link}</a></p>');
    }
    for (const [id, text] of Object.entries(blocks)) {
      if (id === 'join' || id === 'told') continue;
      await copy.write(`main/apps/events/blocks/${id}.yaml`, `${text}\n`);
      await copy.write(`main/apps/events/blocks/${id}.html`, layouts[id] ?? layout);
    }
    await copy.write('main/apps/events/blocks/look.html', '{all}');
    await copy.write('main/apps/events/blocks/refers.html', '{ref}');
    await copy.write('main/apps/events/blocks/look.js', logic);
    await copy.write('main/apps/events/blocks/join.js', onSave);
  });
  const database = useDatabase(client);
  const stage = useStage(() => ({
    themesDirectory: themes.directory,
    env: {
      ...database().address.env,
      TZ: 'UTC',
      ...configured({ apps: { fetch: { hosts: { '*': ['hooks.example.org'] } } } }),
    },
  }));
  const mails = setUp(stage);

  /** The next look of the host at its unconfirmed records (events/unconfirmed.ts). */
  const look = useTimer(stage.host, { milliseconds: 10_000, name: 'begin' });

  beforeAll(mails.catchAll);

  describe('records', () => {
    beforeEach(mails.forget);
    waitingRecords(stage, mails, { client, look });
    if (client === 'sqlite') receiptBrowsers(stage, mails);
    receiptLimits(stage, mails);
  });
  refusedConfirmations(stage, mails);
});
