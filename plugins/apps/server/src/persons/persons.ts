import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type {
  ErasedPerson,
  ExportedEntry,
  FoundPerson,
  PersonEntry,
  PersonGroup,
  PersonKind,
  PersonName,
} from '../../../shared/admin-api';
import { isItems, type Json } from '../../../shared/json';
import { type AppServices, escapeHtml, type PageLocale, type ServiceMessage } from '../apps';
import type { Account } from '../auth';
import { notFound } from '../common/errors';
import type { Masks } from '../common/log';
import { readableMoment } from '../common/time/moments';
import type { HostDatabase } from '../database';
import type { Files } from '../files/types';
import type { Drafts, Links } from '../links/types';
import type { Sites } from '../sites/types';
import { isAddress, readWho, searchOf } from './address';
import { createTableStatements, Deadline } from './scan';
import { personSources } from './sources';
import type { LoadKeyed, Person, PersonServices, Stored } from './types';

/** Headings of the kinds of entries; files are links of their records. */
const headings: Record<Exclude<PersonKind, 'files'>, ServiceMessage> = {
  records: 'person_records',
  drafts: 'person_drafts',
  history: 'person_history',
  mails: 'person_mails',
  jobs: 'person_jobs',
  runs: 'person_runs',
  answers: 'person_answers',
  audit: 'person_audit',
};

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}table{border-collapse:collapse;width:100%;margin:0 0 2rem}th,td{border:1px solid #767676;padding:.3rem .6rem;text-align:left;vertical-align:top;overflow-wrap:anywhere}th{width:12rem}td{white-space:pre-wrap}caption{text-align:left;font-weight:600;padding:.3rem 0}';

/** Stands for the link in a message while that is escaped. */
const LINK = '\0';

/** The beginning of the page. It runs nothing and loads nothing, whatever the values are. @param json the name of the file with the same */
function opening({ say, ...locale }: PageLocale, { address, user }: PersonName, at: Date, json: string): string {
  const who = [address, user?.name].filter((one) => one !== null && one !== undefined).join(', ');
  const title = escapeHtml(say('person_title', { who }));
  const exported = escapeHtml(say('person_exported', { at: readableMoment(at.toISOString(), locale), file: LINK }));
  return `<!doctype html>
<html lang="${escapeHtml(locale.tag)}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title><style>${STYLE}</style></head><body>
<h1>${title}</h1>
<p>${exported.replace(LINK, `<a href="${json}">${json}</a>`)}</p>
`;
}

const closing = ({ say }: PageLocale, isEmpty: boolean): string =>
  `${isEmpty ? `<p>${escapeHtml(say('person_nothing'))}</p>\n` : ''}</body></html>\n`;

/** An entry as a table of its values. @param isFirst whether its kind begins with it */
function tableOf({ say }: PageLocale, stored: Stored, isFirst: boolean): string {
  const { kind, site, app, id, at, data, labels, files } = stored;
  const { items = null, ...others } = data;
  const values = isItems(items) ? { ...others, ...items } : data;
  const rows = Object.entries(values).map(([name, value]) => row(labels[name] ?? name, escapeHtml(readable(value))));
  const links = files.map((path) => row('', `<a href="${escapeHtml(addressOf(path))}">${escapeHtml(path)}</a>`));
  const caption = [id, [app, site].filter((one) => one !== null).join(' · '), at].filter(Boolean).join(' — ');
  const heading = isFirst && kind !== 'files' ? `<h2>${escapeHtml(say(headings[kind]))}</h2>\n` : '';
  return `${heading}<table><caption>${escapeHtml(caption)}</caption><tbody>${[...rows, ...links].join('')}</tbody></table>\n`;
}

const row = (name: string, html: string): string => `<tr><th scope="row">${escapeHtml(name)}</th><td>${html}</td></tr>`;

const addressOf = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

const readable = (value: Json): string =>
  value === null ? '' : typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);

const JSON_FILE = 'person.json';

interface ExportTools {
  files(): Pick<Files['moves'], 'bytes'>;
  /** The language of the page. */
  locale(): Promise<PageLocale>;
  /** Receives why a file is missing in an export. */
  onError(error: unknown): void;
}

/**
 * A ZIP with `index.html`, `person.json` and a folder `files`. Nothing is held in memory but a batch: what is stored is read once for each
 * of the two, and each file while it is sent.
 */
function exported(
  { files, locale, onError }: ExportTools,
  person: PersonName,
  all: () => AsyncIterable<Stored[]>,
  at: Date,
): Readable {
  const zip = new ZipFile();
  const stream = zip.outputStream as Readable;
  const contents = new Map<string, string>();
  zip.once('error', (error: Error) => stream.destroy(error));

  const add = async (source: Readable, path: string): Promise<void> => {
    source.once('error', (error) => stream.destroy(error));
    const left = () => source.destroy();
    stream.once('close', left);
    zip.addReadStream(source, path, { mtime: at, mode: 0o100644, forceDosTimestamp: true });
    await finished(source, { writable: false });
    stream.off('close', left);
  };

  const addFiles = async (): Promise<void> => {
    for (const [path, documentId] of contents) {
      if (stream.destroyed) return;
      const source = await files()
        .bytes(documentId)
        .catch((error: unknown) => onError(error));
      if (source) await add(source, path);
    }
  };

  const noted = async function* (): AsyncGenerator<Stored> {
    for await (const batch of all())
      for (const stored of batch) {
        for (const { path, documentId } of stored.contents) contents.set(path, documentId);
        yield stored;
      }
  };

  const work = async (): Promise<void> => {
    await add(Readable.from(jsonOf(person, noted(), at), { objectMode: false }), JSON_FILE);
    await add(Readable.from(htmlOf(await locale(), person, noted(), at), { objectMode: false }), 'index.html');
    await addFiles();
    zip.end();
  };
  work().catch((error: Error) => stream.destroy(error));
  return stream;
}

/** What of an entry is exported: what erasing would do to it says nothing about the person. */
function shownOf({ kind, site, app, id, at, data, files }: Stored): Omit<ExportedEntry, 'does' | 'items'> {
  return { kind, site, app, id, at, data, files };
}

async function* jsonOf(person: PersonName, all: AsyncIterable<Stored>, at: Date): AsyncGenerator<string> {
  yield `{"person":${JSON.stringify(person)},"exportedAt":${JSON.stringify(at.toISOString())},"entries":[`;
  let isFirst = true;
  for await (const stored of all) {
    yield `${isFirst ? '' : ','}\n${JSON.stringify(shownOf(stored))}`;
    isFirst = false;
  }
  yield '\n]}\n';
}

async function* htmlOf(
  locale: PageLocale,
  person: PersonName,
  all: AsyncIterable<Stored>,
  at: Date,
): AsyncGenerator<string> {
  yield opening(locale, person, at, JSON_FILE);
  let kind = '';
  for await (const stored of all) {
    yield tableOf(locale, stored, stored.kind !== kind);
    kind = stored.kind;
  }
  yield closing(locale, kind === '');
}

/** Entries of an answer, and milliseconds for which one request erases. */
const MAX_SHOWN = 100;
const MAX_FAILED = 20;
const MAX_TIME = 20_000;

interface PersonsOptions extends ExportTools {
  database: HostDatabase;
  loadApp: LoadKeyed;
  links: Pick<Links, 'ofRecord'>;
  drafts: Pick<Drafts, 'remove'>;
  /** The accounts that have this username or identity, or one of these e-mails; perhaps others too. */
  accounts(who: string, emails: readonly string[]): Promise<Account[]>;
  /** A keyed hash, from which nothing can be read. */
  sign(parts: readonly string[]): string;
  services(): PersonServices;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

/** What is stored of persons in all apps (docs/operate/privacy.md). Errors of each: 400 for what names no one, 404 for an unknown user. */
export interface Persons {
  find(who: string): Promise<FoundPerson>;
  /** A ZIP with everything, readable and as JSON, and with the files. It is read while it is sent. */
  export(who: string): Promise<Readable>;
  /**
   * Erases what `find` shows, each entry by itself, for some seconds after the first one: it is called again until it is `done`. One that
   * cannot be erased keeps no other from it.
   */
  erase(who: string): Promise<ErasedPerson>;
  /** Stands for the person in the audit log: the same for the same address or user, and only with Strapi's keys. */
  reference(who: string): string;
}

export function createPersons(options: PersonsOptions): Persons {
  const { database, accounts, sign, now = Date.now } = options;
  const tables = createTableStatements(database);
  const sources = personSources({ ...options, tables });

  /** The person of an address, or of an account with its address. */
  const personOf = async (given: string): Promise<Person> => {
    const who = readWho(given);
    const search = isAddress(who) ? searchOf(who) : null;
    const found = await accounts(who, search ? [...new Set([who, search.folded])] : []);
    // Databases compare texts in ways of their own.
    const account = found.find(
      ({ email, username, identity }) => search?.isSame(email) || username === who || identity === who,
    );
    if (!search && !account) throw notFound('There is no such user');
    const email = account?.email ?? '';
    const own = search ?? (isAddress(email) ? searchOf(email) : null);
    const user = account ? { identity: account.identity, name: account.username } : null;
    return { address: own?.folded ?? null, user, search: own };
  };

  const all = async function* (person: Person): AsyncGenerator<Stored[]> {
    for (const { source } of sources) yield* source.find(person);
  };

  return {
    async find(who) {
      const person = await personOf(who);
      const groups = new Groups();
      const entries: PersonEntry[] = [];
      for await (const batch of all(person))
        for (const stored of batch)
          for (const entry of entriesOf(stored)) {
            const { count } = groups.add(entry);
            if (count <= MAX_SHOWN / 5 && entries.length < MAX_SHOWN) entries.push(entry);
          }
      return { ...nameOf(person), groups: groups.list(), entries };
    },

    async export(who) {
      const person = await personOf(who);
      return exported(options, nameOf(person), () => all(person), new Date(now()));
    },

    async erase(who) {
      const person = await personOf(who);
      const deadline = new Deadline(MAX_TIME, now);
      const groups = new Groups();
      const failed: ErasedPerson['failed'] = [];
      for (const { source } of sources)
        for await (const batch of source.find(person))
          for (const stored of batch) {
            if (deadline.isOver) return { groups: groups.list(), done: false, failed };
            try {
              if (!(await source.erase(person, stored))) continue;
              deadline.start();
              for (const entry of entriesOf(stored)) groups.add(entry);
            } catch (error) {
              const { kind, app, id } = stored;
              const message = error instanceof Error ? error.message : String(error);
              if (failed.length < MAX_FAILED) failed.push({ kind, app, id, message });
            }
          }
      return { groups: groups.list(), done: true, failed };
    },

    reference(given) {
      const who = readWho(given);
      return `person:${sign(['person', isAddress(who) ? searchOf(who).folded : who]).slice(0, 22)}`;
    },
  };
}

const nameOf = ({ address, user }: Person): PersonName => ({ address, user });

/** An entry without its data, and those of the files that go with it. */
function entriesOf({ kind, site, app, id, at, does, items, contents }: Stored): PersonEntry[] {
  const files = contents.map(
    ({ path }): PersonEntry => ({
      kind: 'files',
      site,
      app,
      id: path.slice(path.lastIndexOf('/') + 1),
      at,
      does,
      items,
    }),
  );
  return [{ kind, site, app, id, at, does, items }, ...files];
}

/** Counts entries by where they are, and by what erasing does. */
class Groups {
  private readonly groups = new Map<string, PersonGroup>();

  add({ kind, site, app, does }: PersonEntry): PersonGroup {
    const name = JSON.stringify([kind, site, app, does]);
    const group = this.groups.get(name) ?? { kind, site, app, does, count: 0 };
    this.groups.set(name, group);
    group.count += 1;
    return group;
  }

  list(): PersonGroup[] {
    return [...this.groups.values()];
  }
}

interface LookTools {
  sites: Pick<Sites, 'watched'>;
  /** Begins the masks where the app has an element with `person`. */
  loadApp: AppServices['loadApp'];
  masks: Pick<Masks, 'startLook' | 'endLook'>;
}

/**
 * Loads the apps that may have elements with `person`, when a server starts: a job may log the mail of an app before a request has loaded
 * it. Addresses are masked until it has ended, and stay so where it fails.
 */
export async function lookForPersons({ sites, loadApp, masks }: LookTools): Promise<void> {
  masks.startLook();
  for (const { site, appId } of await sites.watched(['person'])) await loadApp(site, appId);
  masks.endLook();
}
