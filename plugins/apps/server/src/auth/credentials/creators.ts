import type { Core } from '@strapi/strapi';

/** Who has created a record, as the admin panel shows it. */
export interface Creator {
  /** Their name; the identity itself where there is no such account any more. */
  name: string;
  /** Path of the panel's page about them; null where there is no such account any more. */
  path: string | null;
}

interface Kind {
  uid: string;
  /** The attribute that the identity names. */
  key: 'id' | 'documentId';
  name: string;
  path(id: string): string;
}

/** Kinds of identities by their prefix (`Requester.identity`). */
const kinds: Record<string, Kind> = {
  user: {
    uid: 'plugin::users-permissions.user',
    key: 'documentId',
    name: 'username',
    path: (id) => `/content-manager/collection-types/plugin::users-permissions.user/${id}`,
  },
  admin: { uid: 'admin::user', key: 'id', name: 'email', path: (id) => `/settings/users/${id}` },
  token: { uid: 'admin::api-token', key: 'id', name: 'name', path: (id) => `/settings/api-tokens/${id}` },
};

/** An account of users-permissions. */
export interface Account {
  identity: string;
  username: string;
  email: string | null;
}

/** Accounts that are read to find one whose e-mail is written otherwise. */
const MAX_ACCOUNTS = 1_000;

/** The accounts that have this username or identity, or one of these e-mails in any case; others too, where a text has wildcards of SQL. */
export async function accountsOf(strapi: Core.Strapi, who: string, emails: readonly string[]): Promise<Account[]> {
  const { uid } = kinds.user as Kind;
  if (strapi.contentType(uid as never) === undefined) return [];
  const byEmail = emails.map((email) => ({ email: { $eqi: email } }));
  const named = [{ username: who }, { documentId: who.replace(/^user:/, '') }, ...byEmail];
  const select = ['id', 'documentId', 'username', 'email'];
  const rows: Record<string, unknown>[] = await strapi.db
    .query(uid)
    .findMany({ where: { $or: named }, select, limit: MAX_ACCOUNTS });
  return rows.map(({ documentId, username, email }) => ({
    identity: `user:${documentId}`,
    username: String(username),
    email: (email as string | null) ?? null,
  }));
}

/** The accounts of identities, by identity; each kind is read once. */
export async function creatorsOf(
  strapi: Core.Strapi,
  identities: readonly string[],
): Promise<ReadonlyMap<string, Creator>> {
  const found = new Map<string, Creator>(identities.map((identity) => [identity, { name: identity, path: null }]));
  for (const [prefix, { uid, key, name, path }] of Object.entries(kinds)) {
    const ids = [...found.keys()].flatMap((identity) =>
      identity.startsWith(`${prefix}:`) ? [identity.slice(prefix.length + 1)] : [],
    );
    // An id that is no number would be an error of the database.
    const wanted = key === 'id' ? ids.filter((id) => /^\d{1,9}$/.test(id)).map(Number) : ids;
    if (wanted.length === 0 || strapi.contentType(uid as never) === undefined) continue;
    const rows: Record<string, unknown>[] = await strapi.db
      .query(uid)
      .findMany({ where: { [key]: { $in: wanted } }, select: [...new Set(['id', key, name])] });
    for (const row of rows) {
      const id = String(row[key]);
      found.set(`${prefix}:${id}`, { name: String(row[name] ?? id), path: path(id) });
    }
  }
  return found;
}
