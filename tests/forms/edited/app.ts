import type { Json } from '../../../plugins/apps/shared/json';

/** Elements with values that were stored under other rules, imported, or written by logic: their controls cannot show all of them. */
export const stored: [name: string, definition: string, value: Json][] = [
  ['gone', '{ type: SELECT, options: [red, blue] }', 'green'],
  ['gone_default', '{ type: SELECT, options: [red, blue], default: red }', 'green'],
  ['gone_number', '{ type: SELECT, options: [1, 2] }', 3],
  ['spelled', '{ type: SELECT, options: [1, 2] }', '2'],
  ['no_choice', '{ type: SELECT, options: [red, ""] }', null],
  ['was_multiple', '{ type: SELECT, options: [red, blue] }', ['red', 'blue']],
  ['was_object', '{ type: SELECT, options: [red] }', { value: 'red' }],
  ['many_gone', '{ type: SELECT, multiple: true, options: [red, blue] }', ['green', 'red']],
  ['was_one', '{ type: SELECT, multiple: true, options: [red, blue] }', 'red'],
  ['radio_gone', '{ type: RADIO, options: [red, blue] }', 'green'],
  ['radio_none', '{ type: RADIO, options: [red, blue] }', ''],
  ['boxes_gone', '{ type: CHECKBOXES, options: [red, blue] }', ['green', 'red']],
  ['boxes_order', '{ type: CHECKBOXES, options: [red, blue] }', ['blue', 'red']],
  ['boxes_text', '{ type: CHECKBOXES, options: [red, blue] }', 'red'],
  ['boxes_objects', '{ type: CHECKBOXES, options: [red, blue] }', [{ id: 1 }, 'red']],
  ['comma', 'NUMBER', '1,5'],
  ['digits', 'NUMBER', '007'],
  ['plus', 'NUMBER', '+5'],
  ['word', '{ type: NUMBER, required: true, min: 1 }', 'many'],
  ['number_list', 'NUMBER', [1, 2]],
  ['german_day', 'DATE', '01.03.2026'],
  ['no_day', 'DATE', '2026-02-31'],
  ['day_and_time', 'DATE', '2026-03-01T09:30'],
  ['zone', 'DATETIME', '2026-03-01T09:30:00Z'],
  ['offset', 'DATETIME', '2026-03-01T09:30:00.000+02:00'],
  ['fraction', 'DATETIME', '2026-03-01T09:30:15.250Z'],
  ['seconds', 'DATETIME', '2026-03-01T09:30:00'],
  ['only_day', 'DATETIME', '2026-03-01'],
  ['blank_between', 'DATETIME', '2026-03-01 09:30'],
  ['short_time', 'TIME', '9:30'],
  ['time_seconds', 'TIME', '09:30:00'],
  ['seconds_from', '{ type: TIME, min: "09:00" }', '09:30:15'],
  ['moment_from', '{ type: DATETIME, min: "2026-03-01T09:00" }', '2026-03-01T09:30:15'],
  ['yes', 'BOOLEAN', 'TRUE'],
  ['one', 'BOOLEAN', 1],
  ['maybe', 'BOOLEAN', 'maybe'],
  ['off', 'BOOLEAN', 'FALSE'],
  ['unset', 'BOOLEAN', null],
  ['lines', 'TEXT', 'a\nb'],
  ['number_text', 'TEXT', 5],
  ['object_text', 'TEXT', { a: [1] }],
  ['carriage', 'TEXTAREA', '\r\na\r\nb\rc'],
  ['long', 'MARKDOWN', '# a\r\n'],
  ['secret', 'HIDDEN', 'a\nb'],
  ['mail', 'EMAIL', ' anna@example.org '],
  ['address', 'URL', 'https://example.org/ '],
  ['phone', 'TEL', '030/\n123456'],
  ['picture', 'FILE', 'old.png'],
  ['gone_target', '{ type: REFERENCE, app: edited }', 'nothing'],
  ['was_targets', '{ type: REFERENCE, app: edited }', ['a', 'b']],
  ['no_list', '{ type: REPEAT, elements: { a: TEXT } }', 'text'],
  ['mixed', '{ type: REPEAT, elements: { a: TEXT } }', [{ a: 'x' }, 'loose']],
  [
    'rows',
    '{ type: REPEAT, elements: { day: DATE, kind: { type: SELECT, options: [a] }, at: DATETIME, ok: BOOLEAN } }',
    [
      { day: '01.03.2026', kind: 'b', at: '2026-03-01T09:30:00Z', ok: 'TRUE', old: 'a field of before' },
      { day: '2026-03-02', kind: 'a', at: '2026-03-01T09:30:00+02:00', ok: 1 },
    ],
  ],
];

export const editedApp: Record<string, string> = {
  'apps/edited/settings.yaml': "acl: { rights: { editor: ['*'] } }\n",
  'apps/edited/blocks/old.yaml': `elements:\n  name: TEXT\n${stored.map(([name, text]) => `  ${name}: ${text}\n`).join('')}`,
  'apps/edited/blocks/old.html': `{name} ${stored.map(([name]) => `<p>{${name}}</p>`).join('\n')} {_save}`,
  'apps/edited/blocks/person.yaml': `
elements:
  name: { type: TEXT, label: Name, required: true }
  phone: { type: TEL, label: Phone }
  town: { type: SELECT, label: Town, options: [{ value: b, label: Berlin }, { value: p, label: Paris }] }
  news: { type: BOOLEAN, label: News }
  rows: { type: REPEAT, elements: { a: TEXT, b: NUMBER } }
  changes: { type: NUMBER, mode: COMPUTED_ON_SAVE }
  mark: { type: ACTION, label: Mark }
  keep: { type: ACTION, label: Keep }
`,
  'apps/edited/blocks/person.js': `
export const changes = ({ record }) => (record.get('changes') ?? 0) + 1;
export const on_save = ({ record }) => { record.saved_name = record.name; };
export const mark = ({ record }) => { record.phone = '110'; };
export const keep = ({ record, request }) => { record.save(request); };
`,
  'apps/edited/blocks/person.html': '{name} {phone} {town} {news} {rows} {mark} {keep} {_save} {_delete}',
  'apps/edited/blocks/placed.yaml': 'target: ajax\nelements: { name: TEXT, phone: TEL }\n',
  'apps/edited/blocks/placed.html': '{name} {phone} {_save}',
  'apps/edited/blocks/typed.yaml': 'elements: { size: NUMBER, day: DATE, at: DATETIME, clock: TIME }\n',
  'apps/edited/blocks/typed.html': '{size} {day} {at} {clock} {_save}',
  'apps/edited/blocks/opening.yaml':
    'elements: { at: { type: DATETIME, min: "2026-12-01T09:00", max: "2026-12-01T17:00" } }\n',
  'apps/edited/blocks/paper.yaml': 'elements: { name: TEXT, file: FILE }\n',
  'apps/edited/blocks/paper.html': '{name} {file} {_save}',
  'apps/edited/blocks/order.yaml': 'elements:\n  name: { type: TEXT, required: true }\n  more: TEXTAREA\n',
  'apps/edited/blocks/order.js': `
export function on_save({ app, record }) {
  const end = Date.now() + 150;
  while (Date.now() < end);
  if (record.name === 'broken') throw new Error('broken');
  const count = app.get_record('count') ?? app.create_record({ id: 'count' });
  count.inc('orders');
}
`,
  'apps/edited/blocks/order.html': '{name} {more} {_save}',
};
