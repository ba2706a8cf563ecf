import type { Core } from '@strapi/strapi';

const USER = 'plugin::users-permissions.user';
const ROLE = 'plugin::users-permissions.role';

/** Names that are looked up for one app: a list of thousands was not written by hand. */
const MAX_NAMES = 200;

/** The names of an `acl` that no user or role has, and the names of all roles. */
export interface KnownNames {
  unknown: string[];
  roles: string[];
}

/** Looks names up among users and roles, exactly as rights compare them (`acl.ts`). */
export async function lookUpNames(strapi: Core.Strapi, names: readonly string[]): Promise<KnownNames> {
  const asked = [...new Set(names)].filter((name) => name !== '*').slice(0, MAX_NAMES);
  if (asked.length === 0 || strapi.contentType(ROLE) === undefined) return { unknown: [], roles: [] };
  const [roleRows, userRows]: { name?: string; username?: string }[][] = await Promise.all([
    strapi.db.query(ROLE).findMany({ select: ['name'], limit: 1_000 }),
    strapi.db.query(USER).findMany({ select: ['username'], where: { username: { $in: asked } } }),
  ]);
  const roles = (roleRows ?? []).flatMap(({ name }) => name ?? []);
  const known = new Set([...roles, ...(userRows ?? []).map(({ username }) => username)]);
  return { unknown: asked.filter((name) => !known.has(name)), roles };
}
