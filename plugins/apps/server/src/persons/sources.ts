import type { ErasureEffect, PersonKind } from '../../../shared/admin-api';
import type { Items, Json } from '../../../shared/json';
import { personElements } from '../apps';
import type { App } from '../apps/types';
import { marks, type Row } from '../database';
import type { Drafts, Links } from '../links/types';
import type { RunDetail, RunLog } from '../runs';
import { aboutPerson, exportPath, nameOf, recordSource } from './record-source';
import { type TableStatements, timeOf } from './scan';
import type { LoadKeyed, Person, PersonServices, PersonSource, Stored } from './types';

/** A table of the plugin whose rows may be about persons. */
interface PersonTable {
  kind: PersonKind;
  table: string;
  /** The column that names a row for people; null: its number. */
  name: string | null;
  /** When a row was stored. */
  at: string | null;
  /** Columns with texts that may have an address; those that hold JSON are read as such. */
  texts: readonly { column: string; isJson?: boolean }[];
  /** Columns that name an account by its identity, and by the user's name. */
  identities: readonly string[];
  names?: readonly string[];
  /** What becomes of a row in place of its deletion; null: it is deleted. */
  keeps?(row: Row, person: Person): { does: ErasureEffect; set: Record<string, unknown> } | null;
}

/** Rows of a table that have the address in a text, or the account in a column. */
function rowSource(tables: TableStatements, given: PersonTable): PersonSource {
  const { kind, table, name, at, texts, identities, names = [], keeps = () => null } = given;
  const condition = (person: Person) =>
    aboutPerson(
      person,
      texts.map(({ column }) => column),
      identities,
      names,
    );
  const storedOf = (person: Person, row: Row): Stored => ({
    kind,
    site: textOf(row.site),
    app: textOf(row.app),
    id: String(name === null ? row.id : row[name]),
    at: at === null ? null : timeOf(row[at]),
    row: Number(row.id),
    does: keeps(row, person)?.does ?? 'delete',
    items: [],
    labels: {},
    files: [],
    contents: [],
    data: dataOf(given, row),
  });

  return {
    async *find(person) {
      for await (const rows of tables.scan(table, condition(person))) {
        const found = rows.filter((row) => isAbout(given, person, row)).map((row) => storedOf(person, row));
        if (found.length > 0) yield found;
      }
    },
    erase: (person, { row: id }) =>
      tables.write(async (sql) => {
        const [row] = await sql.rows(`select * from ${table} where id = ?`, [id]);
        if (!row || !isAbout(given, person, row)) return false;
        const kept = keeps(row, person);
        if (!kept) return (await sql.change(`delete from ${table} where id = ?`, [id])) > 0;
        const columns = Object.keys(kept.set);
        const set = columns.map((column) => `${column} = ?`).join(', ');
        return (await sql.change(`update ${table} set ${set} where id = ?`, [...Object.values(kept.set), id])) > 0;
      }),
  };
}

const textOf = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));

function isAbout({ texts, identities, names = [] }: PersonTable, { search, user }: Person, row: Row): boolean {
  if (user && identities.some((column) => row[column] === user.identity)) return true;
  if (user && names.some((column) => row[column] === nameOf(user))) return true;
  return search !== null && texts.some((text) => search.isInValue(readColumn(text, row)));
}

/** The value of a column; a text that is no JSON, such as one that was cut, is a text. */
function readColumn({ column, isJson = false }: { column: string; isJson?: boolean }, row: Row): Json {
  const text = textOf(row[column]);
  if (!isJson || text === null) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function dataOf({ texts, identities }: PersonTable, row: Row): Items {
  const columns = [...texts, ...identities.map((column) => ({ column }))];
  const values = columns.map((text): [string, Json] => [text.column, readColumn(text, row)]);
  return Object.fromEntries(values.filter(([, value]) => value !== null && value !== ''));
}

/** Drafts of forms that have the address in a field, or that the account has begun, with their files. */
function draftSource({ tables, drafts }: { tables: TableStatements; drafts: Pick<Drafts, 'remove'> }): PersonSource {
  const rows = rowSource(tables, {
    kind: 'drafts',
    table: 'apps_drafts',
    name: 'draft_id',
    at: 'saved_at',
    texts: [{ column: 'content', isJson: true }],
    identities: ['owner'],
  });
  return {
    async *find(person) {
      for await (const batch of rows.find(person)) {
        const found = batch.flatMap(withFiles);
        if (found.length > 0) yield found;
      }
    },
    erase: async (_person, { site, app, id }) =>
      site !== null && app !== null && (await drafts.remove({ site, app }, id)),
  };
}

interface Content {
  files?: { documentId: string; name: string }[];
}

/** None for a draft that was sent: nothing is left of it. */
function withFiles(stored: Stored): Stored[] {
  const { files } = (stored.data.content ?? {}) as Content;
  if (!files) return [];
  const contents = files.map(({ documentId, name }) => ({ documentId, path: exportPath(documentId, name) }));
  return [{ ...stored, files: contents.map(({ path }) => path), contents }];
}

const TABLE = 'apps_history';

/**
 * Versions of records in the history that have the address, or that the account has made: those of deleted records too. Versions of
 * records that are erased go with these.
 */
function historySource({ tables, loadApp }: { tables: TableStatements; loadApp: LoadKeyed }): PersonSource {
  const storedOf = async (person: Person, row: Row): Promise<Stored | null> => {
    const key = { site: String(row.site), app: String(row.app) };
    const items = parsed(row.items);
    const earlier = parsed(row.earlier) as { set?: Items } | null;
    const { user } = person;
    const app = await loadApp(key);
    const isOwn = user !== null && row.creator === user.identity;
    const isAbout = isOwn || [items, earlier?.set ?? null].some((one) => one && hasPerson(app, person, one as Items));
    if (!isAbout && (user === null || row.requester !== user.identity)) return null;
    const about = { items: items as Json, earlier: earlier as Json, through: String(row.through) };
    return {
      kind: 'history',
      ...key,
      id: String(row.identifier),
      at: timeOf(row.at),
      row: Number(row.id),
      does: isAbout ? 'delete' : 'name',
      items: [],
      labels: {},
      files: [],
      contents: [],
      data: { version: Number(row.id), by: String(row.requester), ...(isAbout ? about : {}) },
    };
  };

  return {
    async *find(person) {
      const about = aboutPerson(person, ['items', 'earlier'], ['creator', 'requester']);
      for await (const rows of tables.scan(TABLE, about)) {
        const found: Stored[] = [];
        for (const row of rows) {
          const stored = await storedOf(person, row);
          if (stored) found.push(stored);
        }
        if (found.length > 0) yield found;
      }
    },
    async erase(_person, { row, does }) {
      if (does === 'delete') return (await tables.delete(TABLE, [row])) > 0;
      // That another record was changed stays, without by whom.
      return tables.write(
        async (sql) =>
          (await sql.change(`update ${TABLE} set requester = '' where id in (${marks([row])})`, [row])) > 0,
      );
    },
  };
}

const parsed = (text: unknown): Json => (text === null || text === undefined ? null : JSON.parse(String(text)));

/** Whether an item of an element with `person` has the address; of a block that is not known, any item. */
function hasPerson(app: App | null, { search }: Person, items: Items): boolean {
  if (!search) return false;
  const { block: id } = items;
  const block = typeof id === 'string' ? app?.blocks.get(id) : undefined;
  // What a change has replaced names no block, unless that has changed too.
  const blocks = block ? [block] : [...(app?.blocks.values() ?? [])];
  const elements = blocks.filter(({ error }) => error === null).map(({ definition }) => personElements(definition));
  const names = elements.flatMap(({ own, groups }) => [...own, ...groups.keys()]);
  const values =
    names.length > 0 ? names.map((name) => (Object.hasOwn(items, name) ? items[name] : null)) : Object.values(items);
  return values.some((value) => search.isInValue(value ?? null));
}

const RULES = 'apps_rules';

/** Failures of jobs that rules on events remember. */
function ruleSource(tables: TableStatements): PersonSource {
  const parts = ({ failures }: Row, { search }: Person) => {
    // A column of JSON: some drivers give its value, others its text.
    const all = (typeof failures === 'string' ? parsed(failures) : failures) as Items[] | null;
    const [own, others]: [Items[], Items[]] = [[], []];
    for (const failure of all ?? []) (search?.isInValue(failure) ? own : others).push(failure);
    return { own, others };
  };
  const storedOf = (row: Row, person: Person): Stored => ({
    kind: 'jobs',
    site: null,
    app: textOf(row.app),
    id: String(row.name),
    at: null,
    row: Number(row.id),
    does: 'change',
    items: [],
    labels: {},
    files: [],
    contents: [],
    data: { failures: parts(row, person).own },
  });

  return {
    async *find(person) {
      for await (const rows of tables.scan(RULES, { text: 't.failures is not null', values: [] })) {
        const found = rows.filter((row) => parts(row, person).own.length > 0).map((row) => storedOf(row, person));
        if (found.length > 0) yield found;
      }
    },
    erase: (person, { row: id }) =>
      tables.write(async (sql) => {
        const [row] = await sql.rows(`select * from ${RULES} where id = ?`, [id]);
        if (!row) return false;
        const { own, others } = parts(row, person);
        if (own.length === 0) return false;
        return (await sql.change(`update ${RULES} set failures = ? where id = ?`, [JSON.stringify(others), id])) > 0;
      }),
  };
}

/** Runs that this process keeps in its memory, where the database keeps none. */
function memorySource(runs: () => Pick<RunLog, 'inMemory' | 'forget'>): PersonSource {
  return {
    async *find(person) {
      const found = runs()
        .inMemory()
        .filter((run) => isRunAbout(person, run));
      if (found.length > 0) yield found.map(storedOf);
    },
    erase: async (_person, { id }) => runs().forget(id),
  };
}

function isRunAbout({ search, user }: Person, run: RunDetail): boolean {
  if (user && run.requester.identity === user.identity) return true;
  return search?.isInValue(run as unknown as Json) ?? false;
}

const storedOf = (run: RunDetail): Stored => ({
  kind: 'runs',
  site: run.site,
  app: run.app,
  id: run.id,
  at: run.at,
  row: 0,
  does: 'delete',
  items: [],
  labels: {},
  files: [],
  contents: [],
  data: { ...run } as unknown as Items,
});

/** Tables whose rows are about a person where they have the address or the account. */
const personTables: readonly PersonTable[] = [
  {
    kind: 'jobs',
    table: 'apps_jobs',
    name: 'job_id',
    at: 'stored_at',
    texts: [
      { column: 'name' },
      { column: 'data', isJson: true },
      { column: 'job_key' },
      { column: 'answer' },
      { column: 'error' },
    ],
    identities: ['requester'],
  },
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

/**
 * A mail that tells of several records, with the texts of others: the lines about the person go, and what was written before they went.
 * The digest is written again when it is sent; its subject is that of its first mail until then.
 */
function withoutLines(row: Row, { search }: Person): ReturnType<NonNullable<PersonTable['keeps']>> {
  const isIn = (...columns: string[]) => columns.some((column) => search?.isIn(String(row[column] ?? '')));
  const lines = parsed(row.links) as { title: string; url: string }[] | null;
  if (!search || lines === null || lines.length < 2) return null;
  if (isIn('recipients', 'reply_to', 'calendar', 'error')) return null;
  const others = lines.filter(({ title, url }) => !search.isIn(title) && !search.isIn(url));
  if (others.length === 0) return null;
  const written = isIn('subject', 'text', 'html') ? { subject: '', text: null, html: null } : {};
  return { does: 'change', set: { links: JSON.stringify(others), ...written } };
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
    { kind: 'jobs', source: ruleSource(tools.tables) },
    ...personTables.map((table) => ({ kind: table.kind, source: rowSource(tools.tables, table) })),
    { kind: 'runs', source: memorySource(() => tools.services().runs) },
  ];
}
