import type { PersonKind } from '../../../shared/admin-api';
import type { Row } from '../database';
import type { Drafts, Links } from '../links/types';
import { draftSource } from './draft-source';
import { historySource } from './history-source';
import { memorySource } from './memory-source';
import { recordSource } from './record-source';
import { type PersonTable, rowSource } from './row-source';
import type { TableStatements } from './scan';
import type { LoadKeyed, Person, PersonServices, PersonSource } from './types';

/** Tables whose rows are about a person where they have the address or the account. */
const personTables: readonly PersonTable[] = [
  {
    kind: 'mails',
    table: 'apps_mails',
    name: 'mail_id',
    at: 'created_at',
    texts: [
      { column: 'recipients' },
      { column: 'reply_to' },
      { column: 'subject' },
      { column: 'text' },
      { column: 'html' },
      { column: 'calendar' },
      { column: 'links', isJson: true },
      { column: 'error' },
    ],
    identities: [],
    keeps: withoutLines,
  },
  {
    kind: 'jobs',
    table: 'apps_jobs',
    name: 'job_id',
    at: 'stored_at',
    texts: [{ column: 'data', isJson: true }, { column: 'job_key' }, { column: 'answer' }, { column: 'error' }],
    identities: ['requester'],
  },
  {
    kind: 'runs',
    table: 'apps_runs',
    name: 'run_id',
    at: 'created_at',
    texts: [{ column: 'entry', isJson: true }],
    identities: ['requester'],
  },
  {
    kind: 'answers',
    table: 'apps_answers',
    name: null,
    at: null,
    texts: [{ column: 'answer', isJson: true }],
    identities: [],
  },
  {
    kind: 'audit',
    table: 'apps_audit_entries',
    name: null,
    at: 'first_at',
    texts: [{ column: 'requester' }],
    identities: [],
    names: ['requester'],
    // What an administrator has done stays, without in whose name.
    keeps: () => ({ does: 'name', set: { requester: 'user:(erased)' } }),
  },
];

/** A mail that tells of several records, with the texts of others: the lines about the person go. */
function withoutLines(row: Row, { search }: Person): ReturnType<NonNullable<PersonTable['keeps']>> {
  const texts = [row.recipients, row.reply_to, row.subject, row.text, row.html, row.calendar, row.error].map((text) =>
    String(text ?? ''),
  );
  if (!search || row.links === null || texts.some(search.isIn)) return null;
  const lines = JSON.parse(String(row.links)) as { title: string; url: string }[];
  const others = lines.filter(({ title, url }) => !search.isIn(title) && !search.isIn(url));
  if (others.length === 0) return null;
  return { does: 'change', set: { links: JSON.stringify(others) } };
}

/** Where something of persons is stored, in the order in which it is erased: what goes with records may make rows of other tables. */
export function personSources(tools: {
  tables: TableStatements;
  loadApp: LoadKeyed;
  links: Pick<Links, 'ofRecord'>;
  drafts: Pick<Drafts, 'remove'>;
  services(): PersonServices;
}): { kind: PersonKind; source: PersonSource }[] {
  return [
    { kind: 'records', source: recordSource(tools) },
    { kind: 'drafts', source: draftSource(tools) },
    { kind: 'history', source: historySource(tools) },
    ...personTables.map((table) => ({ kind: table.kind, source: rowSource(tools.tables, table) })),
    { kind: 'runs', source: memorySource(() => tools.services().runs) },
  ];
}
