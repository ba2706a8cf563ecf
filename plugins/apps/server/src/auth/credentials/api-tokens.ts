import type { Core } from '@strapi/strapi';
import { LRUCache } from 'lru-cache';
import { createTables, type RunStatement } from '../rights/permissions';
import type { StrapiAuth } from '../types';
import { authenticate } from './tokens';

const TOKEN = 'admin::api-token';
const PERMISSION = 'admin::api-token-permission';

/** Tokens that are kept, and the milliseconds until Strapi authenticates one again, which also notes when it was last used. */
const MAX_KEPT = 500;
const MAX_AGE = 60_000;

interface TokenRow {
  id: number;
  expiresAt?: string | Date | null;
}

interface Kept {
  auth: StrapiAuth;
  rows: string;
  end: number;
}

/** Reads the rows of a token and of its permissions, as a text that differs when any of them does. */
export type ReadTokenRows = (id: number) => Promise<string>;

export function createTokenRows(strapi: Core.Strapi, run: RunStatement): ReadTokenRows {
  const { tableOf, columnOf, linkOf, statement } = createTables(strapi, run);
  const rows = statement<object>(
    () => `${tableOf(TOKEN)} as t`,
    (query, value) => {
      const granted = linkOf(TOKEN, 'permissions');
      return query
        .leftJoin(`${granted.table} as g`, `g.${granted.own}`, 't.id')
        .leftJoin(`${tableOf(PERMISSION)} as p`, 'p.id', `g.${granted.other}`)
        .where('t.id', value(0))
        .select('t.*', `p.id as permission`, `p.${columnOf(PERMISSION, 'action')} as action`)
        .orderBy('p.id');
    },
  );
  return async (id) => JSON.stringify(await rows(id));
}

interface ApiTokensOptions {
  readTokenRows: ReadTokenRows;
  now: () => number;
}

/**
 * Authenticates content API tokens as Strapi's own strategy does; null for a token that it refuses. Strapi takes four statements,
 * some of them costly. Its result is used again while the rows that it was made of are the same, which one statement tells
 * (docs/decisions/requester-roles.md).
 */
export function createApiTokens(
  strapi: Core.Strapi,
  { readTokenRows, now }: ApiTokensOptions,
): (token: string) => Promise<StrapiAuth | null> {
  const kept = new LRUCache<string, Kept>({ max: MAX_KEPT });
  const rowOf = (auth: StrapiAuth) => auth.credentials as TokenRow;
  const ask = async (token: string) => (await authenticate(strapi, 'content-api', `Bearer ${token}`))?.auth ?? null;

  const isValid = async ({ auth, rows, end }: Kept): Promise<boolean> => {
    const { id, expiresAt } = rowOf(auth);
    if (end <= now() || (expiresAt && new Date(expiresAt).getTime() <= now())) return false;
    return (await readTokenRows(id)) === rows;
  };

  /** Authenticates after the rows were read, so that a change between the two is noticed at the next request. */
  const keep = async (token: string, id: number): Promise<StrapiAuth | null> => {
    const rows = await readTokenRows(id);
    const auth = await ask(token);
    if (auth && rowOf(auth).id === id) kept.set(token, { auth, rows, end: now() + MAX_AGE });
    return auth;
  };

  return async (token) => {
    const known = kept.get(token);
    if (known && (await isValid(known))) return known.auth;
    kept.delete(token);
    if (known) return keep(token, rowOf(known.auth).id);
    const auth = await ask(token);
    return auth && keep(token, rowOf(auth).id);
  };
}
