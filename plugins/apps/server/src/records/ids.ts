import { createHash } from 'node:crypto';
import { AppsError } from '../errors';
import type { AppKey } from './types';

/** Characters (code points) of a record id (contract, section 3). */
export const maxIdLength = 255;

/** BadRequestError unless `id` may be a record's id: 1 to 255 characters, no control characters, well-formed Unicode. */
export function checkId(id: unknown): asserts id is string {
  const reason = idProblem(id);
  if (reason) throw new AppsError('BadRequestError', `Bad record id: ${reason}`, { details: { reason } });
}

function idProblem(id: unknown): string | null {
  if (typeof id !== 'string') return 'it must be a string';
  if (id.length === 0) return 'it is empty';
  if (id.length > 2 * maxIdLength || [...id].length > maxIdLength) return `it is longer than ${maxIdLength} characters`;
  if (/[\p{Cc}]/u.test(id)) return 'it contains a control character';
  return /\p{Surrogate}/u.test(id) ? 'it is not well-formed Unicode' : null;
}

/** Scopes of apps that were asked for lately: every request asks for one, several times. */
const scopes = new Map<string, string>();
const mostScopes = 1_000;

/** What stands for an app in the database: exact on every database, whose comparison of strings is not. */
export function scopeOf({ site, app }: AppKey): string {
  const name = JSON.stringify([site, app]);
  const known = scopes.get(name);
  if (known !== undefined) return known;
  if (scopes.size >= mostScopes) scopes.clear();
  const scope = digest([site, app]).slice(0, 32);
  scopes.set(name, scope);
  return scope;
}

/** What stands for a record: unique over sites, apps and ids. */
export function hashOf({ site, app }: AppKey, id: string): string {
  return digest([site, app, id]);
}

function digest(parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

let last = 0;
const epoch = Date.UTC(2024, 0, 1);

/**
 * An id made by the service: digits, a safe integer, greater than all that this process made before. Another process
 * may make the same one; who writes it finds out and asks again.
 */
export function generateId(): string {
  last = Math.max(last + 1, (Date.now() - epoch) * 4096 + Math.floor(Math.random() * 4096));
  return String(last);
}

/** `id` with `-<number>` behind it, shortened to fit. */
export function numberedId(id: string, number: number): string {
  const suffix = `-${number}`;
  return [...id].slice(0, maxIdLength - suffix.length).join('') + suffix;
}
