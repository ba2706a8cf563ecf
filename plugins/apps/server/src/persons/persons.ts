import type { Readable } from 'node:stream';
import type { ErasedPerson, FoundPerson, PersonEntry, PersonGroup, PersonName } from '../../../shared/admin-api';
import type { Account } from '../auth';
import { notFound } from '../common/errors';
import type { HostDatabase } from '../database';
import type { Drafts, Links } from '../links/types';
import { isAddress, readWho, searchOf } from './address';
import { type ExportTools, exported } from './export';
import { createTables } from './scan';
import { personSources } from './sources';
import type { LoadKeyed, Person, PersonServices, Stored } from './types';

/** Entries of an answer, and milliseconds for which one request erases. */
const MAX_SHOWN = 100;
const MAX_FAILED = 20;
const TURN = 20_000;

export interface PersonsOptions extends ExportTools {
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
   * Erases what `find` shows, each entry by itself, for some seconds: it is called again until it is `done`. One that cannot be erased
   * keeps no other from it.
   */
  erase(who: string): Promise<ErasedPerson>;
  /** Stands for the person in the audit log: the same for the same address or user, and only with Strapi's keys. */
  reference(who: string): string;
}

export function createPersons(options: PersonsOptions): Persons {
  const { database, accounts, sign, now = Date.now } = options;
  const tables = createTables(database);
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
      const ends = now() + TURN;
      const groups = new Groups();
      const failed: ErasedPerson['failed'] = [];
      for (const { source } of sources)
        for await (const batch of source.find(person))
          for (const stored of batch) {
            if (now() > ends) return { groups: groups.list(), done: false, failed };
            try {
              if (await source.erase(person, stored)) for (const entry of entriesOf(stored)) groups.add(entry);
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
