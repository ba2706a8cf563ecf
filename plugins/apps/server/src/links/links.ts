import { randomBytes } from 'node:crypto';
import { createSql, dialects, type HostDatabase, type Row, readerOf, type Sql } from '../database';
import { hashOf } from '../records';
import type { AppKey, CommitWrite } from '../records/types';
import type { Link, LinkPurpose, Links, RecordLinkPurpose } from './types';

/** `<id of 16 bytes><signature of 32 bytes>`, base64url. */
const TOKEN = /^([\w-]{22})([\w-]{43})$/;

/** Keyed hashes under Strapi's keys (auth/credentials/keyring.ts). */
export interface Signer {
  sign(parts: readonly string[]): string;
  /** In constant time. */
  verify(parts: readonly string[], mac: string): boolean;
}

/** What a token is made of: the random id of a row, and what the row is for. */
interface Signed {
  purpose: LinkPurpose;
  key: AppKey;
  id: string;
}

/** Tokens of signed links (docs/decisions/signed-links.md): none is stored. */
interface Tokens {
  make(signed: Signed): string;
  /** The id in a token, and whether its signature is right; '' for a text that is no token. */
  read(purpose: LinkPurpose, key: AppKey, token: string): { id: string; isSigned: boolean };
}

/** Whether a text is the one base64url encoding of its bytes: the last character has bits that no byte needs. */
const isExact = (text: string): boolean => Buffer.from(text, 'base64url').toString('base64url') === text;

const parts = (purpose: LinkPurpose, { site, app }: AppKey, id: string) => ['link', purpose, site, app, id];

export function createTokens(keyring: Signer): Tokens {
  return {
    make: ({ purpose, key, id }) => id + keyring.sign(parts(purpose, key, id)),
    read(purpose, key, token) {
      const [, id = '', mac = ''] = TOKEN.exec(token) ?? [];
      return { id, isSigned: keyring.verify(parts(purpose, key, id), mac) && isExact(mac) };
    },
  };
}

const TABLE = 'apps_links';
const RECORDS = 'apps_records';
const COLUMNS = 'link_id, purpose, site, app, hash, identifier, seq, made_at';

/** Rows that are deleted in one statement, and milliseconds between two of them. */
const PRUNED = 1_000;
const PRUNE = 60 * 60_000;

interface LinkTools {
  database: HostDatabase;
  keyring: Signer;
  onError(error: unknown): void;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

function linkOf(row: Row): Link {
  return {
    linkId: String(row.link_id),
    purpose: row.purpose as RecordLinkPurpose,
    key: { site: String(row.site), app: String(row.app) },
    id: String(row.identifier),
    seq: Number(row.seq),
    madeAt: Number(row.made_at),
    usedAt: row.used_at === null ? null : Number(row.used_at),
  };
}

/** The links of all apps, in the host's database. */
export function createLinks({ database, keyring, onError, now = Date.now }: LinkTools): Links {
  const dialect = dialects[database.client];
  const tokens = createTokens(keyring);
  const reading = () => createSql(readerOf(database), dialect);
  let timer: NodeJS.Timeout | undefined;

  /** Links that meet a condition and whose record is there still. */
  const select = (sql: Sql, condition: string, values: readonly unknown[]) =>
    sql.rows(
      `select l.* from ${TABLE} l join ${RECORDS} r on r.id = l.seq and r.hash = l.hash where ${condition} order by l.id`,
      values,
    );

  async function prune(): Promise<void> {
    const gone = `select l.id from ${TABLE} l left join ${RECORDS} r on r.id = l.seq and r.hash = l.hash where r.id is null limit ${PRUNED}`;
    const ids = (await reading().rows(gone)).map(({ id }) => Number(id));
    if (ids.length === 0) return;
    const marks = ids.map(() => '?').join(', ');
    const text = `delete from ${TABLE} where id in (${marks})`;
    await database.transaction((trx) => createSql(trx, dialect).change(text, ids));
  }

  return {
    token: ({ linkId, purpose, key }) => tokens.make({ purpose, key, id: linkId }),
    issue({ key, purpose, id }) {
      const linkId = randomBytes(16).toString('base64url');
      const hash = hashOf(key, id);
      const write: CommitWrite = async (sql) => {
        const [record] = await sql.rows(`select id from ${RECORDS} where hash = ?`, [hash]);
        // Logic has deleted it, or given it another id: then there is nothing to own.
        if (!record) return;
        const row = [linkId, purpose, key.site, key.app, hash, id, Number(record.id), now()];
        await sql.insert(TABLE, COLUMNS.split(', '), [row]);
      };
      return { linkId, write };
    },
    async find(key, purpose, token) {
      const { id: linkId, isSigned } = tokens.read(purpose, key, token);
      // Also for a forged token, so that the time of an answer does not tell it from a revoked one.
      const [row] = await select(reading(), 'l.link_id = ?', [linkId]);
      const link = row && isSigned ? linkOf(row) : null;
      const isMeant = link?.purpose === purpose && link.key.site === key.site && link.key.app === key.app;
      return isMeant ? link : null;
    },
    async ofRecord({ key, purpose, id }) {
      return (await select(reading(), 'l.hash = ? and l.purpose = ?', [hashOf(key, id), purpose])).map(linkOf);
    },
    revoke: (linkId) => async (sql) => void (await sql.change(`delete from ${TABLE} where link_id = ?`, [linkId])),
    forget: (key, id) => async (sql) =>
      void (await sql.change(`delete from ${TABLE} where hash = ?`, [hashOf(key, id)])),
    now: (write) => database.transaction((trx) => write(createSql(trx, dialect))),
    prune,
    start() {
      timer = setInterval(() => void prune().catch(onError), PRUNE).unref();
    },
    destroy: () => clearInterval(timer),
  };
}
