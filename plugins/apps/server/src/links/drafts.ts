import { randomBytes } from 'node:crypto';
import { AppsError } from '../common/errors';
import { createSql, dialects, type HostDatabase, type Row, readerOf, type Sql } from '../database';
import type { AppKey } from '../records/types';
import { createTokens, type Signer } from './links';
import type { Draft, DraftContent, DraftLimits, Drafts, FullDrafts, ListedDraft, NewDraft } from './types';

const TABLE = 'apps_drafts';
const FILES = 'apps_files';
const COLUMNS = ['draft_id', 'site', 'app', 'block', 'owner', 'sender', 'content', 'bytes', 'saved_at', 'ends_at'];

const HOUR = 60 * 60_000;

/** Milliseconds for which a draft is known whose form was sent: a double click gets the answer of the first. */
const KEEP_SENT = 24 * HOUR;

/** Rows that are deleted in one statement, and milliseconds between two of them. */
const PRUNED = 500;
const PRUNE = HOUR;

/** The part of the bytes of an app that one sender's drafts may have. */
const SHARE = 8;

const NO_CONTENT: DraftContent = { fields: {}, inputs: {}, files: [] };

/** A form that goes on with a draft which has ended meanwhile: it was sent or deleted, or its time is over. Nothing of the request is stored. */
export class DraftEnded extends AppsError {
  constructor() {
    super('ConflictError', 'The draft has ended');
  }
}

interface DraftTools {
  database: HostDatabase;
  keyring: Signer;
  limits: DraftLimits;
  /** Called after drafts have ended with the files that they had. */
  released(key: AppKey, documentIds: readonly string[]): Promise<void>;
  onError(error: unknown): void;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

const marksOf = (values: readonly unknown[]): string => values.map(() => '?').join(', ');

const sizeOf = (text: string, { files }: DraftContent): number =>
  Buffer.byteLength(text) + files.reduce((sum, { size }) => sum + size, 0);

function listed(row: Row): ListedDraft {
  return {
    draftId: String(row.draft_id),
    block: String(row.block),
    owner: row.owner === null ? null : String(row.owner),
    savedAt: Number(row.saved_at),
    endsAt: Number(row.ends_at),
    bytes: Number(row.bytes),
  };
}

function draftOf(row: Row): Draft {
  const { bytes: _bytes, ...known } = listed(row);
  const isSent = row.sent_at !== null;
  return {
    ...known,
    key: { site: String(row.site), app: String(row.app) },
    sender: String(row.sender),
    content: isSent ? NO_CONTENT : (JSON.parse(String(row.content)) as DraftContent),
    isSent,
  };
}

/** The drafts of all apps, in the host's database. */
export function createDrafts({ database, keyring, limits, released, onError, now = Date.now }: DraftTools): Drafts {
  const dialect = dialects[database.client];
  const tokens = createTokens(keyring);
  const reading = () => createSql(readerOf(database), dialect);
  let timer: NodeJS.Timeout | undefined;

  /** What drafts that hold have together, besides one of them. */
  const used = async (sql: Sql, { draftId, key: { site, app } }: NewDraft, sender?: string) => {
    const ofSender = sender === undefined ? '' : ' and sender = ?';
    const [row] = await sql.rows(
      `select count(*) as drafts, coalesce(sum(bytes), 0) as bytes from ${TABLE} ` +
        `where site = ? and app = ? and sent_at is null and ends_at > ? and draft_id <> ?${ofSender}`,
      [site, app, now(), draftId, ...(sender === undefined ? [] : [sender])],
    );
    return { drafts: Number(row?.drafts ?? 0), bytes: Number(row?.bytes ?? 0) };
  };

  async function full(draft: NewDraft): Promise<FullDrafts | null> {
    const size = sizeOf(JSON.stringify(draft.content), draft.content);
    const own = await used(reading(), draft, draft.sender);
    if (own.drafts >= limits.draftsOfSender || own.bytes + size > limits.draftSize / SHARE) return 'sender';
    const all = await used(reading(), draft);
    return all.drafts >= limits.drafts || all.bytes + size > limits.draftSize ? 'app' : null;
  }

  /** The files of drafts. */
  const filesOf = async (sql: Sql, draftIds: readonly string[]): Promise<string[]> => {
    const rows = await sql.rows(`select file from ${FILES} where draft in (${marksOf(draftIds)})`, draftIds);
    return rows.map(({ file }) => String(file));
  };

  /** Makes the files those of the draft, and no others. */
  async function keepFiles(sql: Sql, { draftId, key: { site, app }, content: { files } }: NewDraft): Promise<void> {
    await sql.change(`update ${FILES} set draft = null where draft = ?`, [draftId]);
    if (files.length === 0) return;
    const ids = files.map(({ documentId }) => documentId);
    const text = `update ${FILES} set draft = ? where site = ? and app = ? and file in (${marksOf(ids)})`;
    await sql.change(text, [draftId, site, app, ...ids]);
  }

  /**
   * Deletes drafts with their files.
   * @param condition what must still hold: a draft that is saved or sent at this moment stays, with its files
   * @returns how many were deleted
   */
  async function removeRows(
    rows: readonly Row[],
    condition: string,
    values: readonly (string | number)[],
  ): Promise<number> {
    const ids = rows.map(({ draft_id: id }) => String(id));
    const known = `draft_id in (${marksOf(ids)})`;
    const { gone, files } = await database.transaction(async (trx) => {
      const sql = createSql(trx, dialect);
      await sql.change(`delete from ${TABLE} where ${known} and ${condition}`, [...ids, ...values]);
      const left = await sql.rows(`select draft_id from ${TABLE} where ${known}`, ids);
      const stay = new Set(left.map(({ draft_id: id }) => String(id)));
      const gone = ids.filter((id) => !stay.has(id));
      return { gone, files: gone.length > 0 ? await filesOf(sql, gone) : [] };
    });
    const apps = new Map(rows.map(({ site, app }) => [`${site}/${app}`, { site: String(site), app: String(app) }]));
    // Each app looks only at files of its own.
    if (files.length > 0) for (const key of apps.values()) await released(key, files);
    return gone.length;
  }

  async function prune(): Promise<void> {
    const text = `select draft_id, site, app from ${TABLE} where ends_at <= ? order by id limit ${PRUNED}`;
    for (let rows = await reading().rows(text, [now()]); rows.length > 0; ) {
      await removeRows(rows, 'ends_at <= ?', [now()]);
      rows = rows.length < PRUNED ? [] : await reading().rows(text, [now()]);
    }
  }

  return {
    newId: () => randomBytes(16).toString('base64url'),
    token: ({ draftId, key }) => tokens.make({ purpose: 'draft', key, id: draftId }),
    async find(key, token) {
      const { id, isSigned } = tokens.read('draft', key, token);
      // Also for a forged token, so that the time of an answer does not tell it from a revoked one.
      const [row] = await reading().rows(`select * from ${TABLE} where draft_id = ?`, [id]);
      if (!row || !isSigned || row.site !== key.site || row.app !== key.app) return null;
      return row.draft_id === id && Number(row.ends_at) > now() ? draftOf(row) : null;
    },
    isToken(key, token) {
      const { id, isSigned } = tokens.read('draft', key, token);
      return isSigned && id !== '';
    },
    full,
    save: (draft, isNew) => async (sql) => {
      const { draftId, key, block, owner, sender, content, endsAt } = draft;
      const text = JSON.stringify(content);
      const bytes = sizeOf(text, content);
      if (isNew) {
        const row = [draftId, key.site, key.app, block, owner, sender, text, bytes, now(), endsAt];
        await sql.insert(TABLE, COLUMNS, [row]);
      } else {
        const set = 'block = ?, owner = ?, sender = ?, content = ?, bytes = ?, saved_at = ?, ends_at = ?';
        const values = [block, owner, sender, text, bytes, now(), endsAt, draftId, now()];
        const where = 'draft_id = ? and sent_at is null and ends_at > ?';
        if ((await sql.change(`update ${TABLE} set ${set} where ${where}`, values)) === 0) throw new DraftEnded();
      }
      await keepFiles(sql, draft);
    },
    sent:
      ({ draftId }) =>
      async (sql) => {
        const set = `sent_at = ?, ends_at = ?, content = '{}', bytes = 0`;
        const where = 'draft_id = ? and sent_at is null and ends_at > ?';
        const values = [now(), now() + KEEP_SENT, draftId, now()];
        if ((await sql.change(`update ${TABLE} set ${set} where ${where}`, values)) === 0) throw new DraftEnded();
        await sql.change(`update ${FILES} set draft = null where draft = ?`, [draftId]);
      },
    async remove({ site, app }, draftId) {
      const text = `select draft_id, site, app from ${TABLE} where draft_id = ? and site = ? and app = ? and sent_at is null`;
      const rows = await reading().rows(text, [draftId, site, app]);
      return rows.length > 0 && (await removeRows(rows, 'sent_at is null', [])) > 0;
    },
    async list({ site, app }, limit) {
      const where = 'site = ? and app = ? and sent_at is null and ends_at > ?';
      const values = [site, app, now()];
      const columns = 'draft_id, block, owner, saved_at, ends_at, bytes';
      const rows = await reading().rows(
        `select ${columns} from ${TABLE} where ${where} order by saved_at desc, id desc limit ${Number(limit)}`,
        values,
      );
      const [count] = await reading().rows(`select count(*) as drafts from ${TABLE} where ${where}`, values);
      return { drafts: rows.map(listed), total: Number(count?.drafts ?? 0) };
    },
    async namedFiles({ site, app }, documentIds) {
      if (documentIds.length === 0) return new Set();
      const rows = await reading().rows(
        `select f.file from ${FILES} f join ${TABLE} d on d.draft_id = f.draft ` +
          `where d.sent_at is null and d.site = ? and d.app = ? and f.file in (${marksOf(documentIds)})`,
        [site, app, ...documentIds],
      );
      return new Set(rows.map(({ file }) => String(file)));
    },
    prune,
    start() {
      timer = setInterval(() => void prune().catch(onError), PRUNE).unref();
    },
    destroy: () => clearInterval(timer),
  };
}
