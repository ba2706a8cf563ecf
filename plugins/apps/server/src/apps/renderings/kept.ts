import { LRUCache } from 'lru-cache';
import type { KeptReads } from '../../records/types';
import type { Inputs } from '../run/observed';
import type { Visit } from '../run/types';

/** A kept result. */
export interface Kept<T> {
  readonly value: T;
  readonly reads: readonly KeptReads[];
  readonly inputs: Pick<Inputs, 'names' | 'checked' | 'until' | 'beginsVisitor'>;
  /** Characters, about. */
  readonly size: number;
}

/** Variants of one block at one address, that is for different parameters; and ways to tell them apart. */
const MAX_VARIANTS = 200;
const MAX_LISTS = 8;
/** Blocks of which something is kept, and characters of all kept results together, and of one block. */
const MAX_GROUPS = 2_000;
const MAX_SIZE = 32_000_000;
const MAX_GROUP_SIZE = 4_000_000;

/** The kept results of one block at one address, which differ by what they have looked at. */
export class Group<T> {
  private readonly variants = new LRUCache<string, Kept<T>>({
    max: MAX_VARIANTS,
    maxSize: MAX_GROUP_SIZE,
  });
  /** The lists of names that results have looked at. */
  private lists: string[][] = [];
  /** Scopes that the last result has read. */
  scopes: ReadonlySet<string> = new Set();
  /** Whether the last result could be kept; null before the first. */
  wasKept: boolean | null = null;
  /** Results that are being made, by what their visits have in common (`sameAs`). */
  readonly making = new Map<string, Promise<unknown>>();

  get size(): number {
    return this.variants.calculatedSize;
  }

  /** Those that agree with a visit in all that they have looked at, with their keys. */
  *matching(visit: Visit): Generator<[key: string, kept: Kept<T>]> {
    for (const names of this.lists) {
      const key = variantKey(names, visit);
      const kept = this.variants.get(key);
      if (kept) yield [key, kept];
    }
  }

  /** Differs for visits that may get different results, as far as is known; they must not wait for each other. */
  sameAs(visit: Visit): string {
    if (this.lists.length > 0) return this.lists.map((names) => variantKey(names, visit)).join();
    return JSON.stringify([visit.request.url, visit.parentRequest?.url]);
  }

  /** False where it is too large to be kept. */
  set(visit: Visit, kept: Kept<T>): boolean {
    const list = [...kept.inputs.names].sort();
    const isKnown = this.lists.some((one) => one.length === list.length && one.every((name, at) => name === list[at]));
    // With too many lists each request would be compared with all: what was kept by them is no longer found.
    if (!isKnown) this.lists = [...(this.lists.length < MAX_LISTS ? this.lists : []), list];
    const key = variantKey(list, visit);
    // What a visitor sends may be longer than what is shown.
    const size = kept.size + key.length;
    if (size > MAX_GROUP_SIZE) return false;
    this.variants.set(key, kept, { size });
    return true;
  }

  delete(key: string): void {
    this.variants.delete(key);
  }
}

/** All kept results of a server process: the groups that were asked for lately. */
export class KeptResults<T> {
  private readonly groups = new LRUCache<string, Group<T>>({ max: MAX_GROUPS });
  private size = 0;

  group(key: string): Group<T> {
    const known = this.groups.get(key);
    if (known) return known;
    const group = new Group<T>();
    this.groups.set(key, group);
    return group;
  }

  /** Runs a change of a group, and drops the groups that were not asked for longest when there is too much. */
  change<R>(group: Group<T>, work: () => R): R {
    const before = group.size;
    const result = work();
    this.size += group.size - before;
    if (this.size <= MAX_SIZE) return result;
    this.size = [...this.groups.values()].reduce((sum, { size }) => sum + size, 0);
    while (this.size > MAX_SIZE) this.size -= this.groups.pop()?.size ?? this.size;
    return result;
  }

  clear(): void {
    this.groups.clear();
    this.size = 0;
  }
}

/** What a visit has in place of the names that were looked at. */
function variantKey(names: readonly string[], visit: Visit): string {
  return JSON.stringify([names, ...names.map((name) => inputOf(name, visit))]);
}

/** Begins the name of a question: which of these usernames, as JSON, the requester has. */
export const NAMED = 'named.';

function nameAmong(name: string, { requester: { username } }: Visit): string | null {
  const names = JSON.parse(name.slice(NAMED.length)) as (string | null)[];
  return names.includes(username) ? username : null;
}

/** Names of what the group has in common. */
const constant: ReadonlySet<string> = new Set(['groups', 'params', 'content']);

function inputOf(name: string, visit: Visit): unknown {
  if (constant.has(name)) return null;
  if (name.startsWith(NAMED)) return nameAmong(name, visit);
  if (name === 'visitor') return visit.visitor?.id() ?? null;
  const [object, part, ...rest] = name.split('.');
  const request = object === 'parent_request' ? visit.parentRequest : visit.request;
  const value = (request as { [name: string]: unknown } | null)?.[part ?? ''];
  if (rest.length === 0) return value ?? null;
  const items = value as { [name: string]: unknown };
  const key = rest.join('.');
  // Whether there is one counts too: an empty text is not the same as none.
  return Object.hasOwn(items, key) ? [items[key]] : null;
}
