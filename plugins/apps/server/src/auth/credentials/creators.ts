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
    ...{ uid: 'plugin::users-permissions.user', key: 'documentId', name: 'username' },
    path: (id) => `/content-manager/collection-types/plugin::users-permissions.user/${id}`,
  },
  admin: { uid: 'admin::user', key: 'id', name: 'email', path: (id) => `/settings/users/${id}` },
  token: { uid: 'admin::api-token', key: 'id', name: 'name', path: (id) => `/settings/api-tokens/${id}` },
};

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
