import { LRUCache } from 'lru-cache';
import { appsActions, rightsOf } from '../../auth';
import type { Requester } from '../../auth/types';
import { contentScope } from '../../records';
import type { KeptReads, KnownCommits, ReadMark, UnitReads } from '../../records/types';
import { Inputs, type NotKept, originalOf, refusalOf } from '../run/observed';
import type { AppServices, Ran, RequestBegin, Run, Visit } from '../run/types';
import type { App } from '../types';
import { observedServices, observedVisit, placeholders, RIGHTS, versionOf } from './observed';

/** What a result has looked at besides records and content. */
type Looked = Pick<Inputs, 'names' | 'checked' | 'until' | 'beginsVisitor'>;

/** A kept result. */
export interface Kept<T> {
  readonly value: T;
  readonly reads: readonly KeptReads[];
  /** The commits that were known when the reads last held. */
  heldAt: KnownCommits | null;
  readonly inputs: Looked;
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
const NAMED = 'named.';

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

/** What an answer says of a result in debug mode: `hit`, `miss` (it is kept from now on), or why it is not kept. */
export type CacheState = 'hit' | 'miss' | `none; ${NotKept}`;

/** How a result is made, kept, and given to a visitor. */
export interface Recipe<T, K> {
  /** Names the result among those at its address. */
  name: string;
  /** The app whose files it depends on; null for a page. */
  app: App | null;
  /** Whether its definition allows to keep it. */
  isOn: boolean;
  /** Makes it. `seen` must be called at the end of a run, while its unit of work is open. */
  make(services: AppServices, visit: Visit, seen: (run: Run) => void): Promise<Ran<T>>;
  /** What is kept of it, without what belongs to a visitor. */
  toKept(value: T): Promise<K>;
  /** The result for a visitor. */
  fromKept(kept: K, visit: Visit): T;
  /** Its characters, about. */
  sizeOf(kept: K): number;
  /** Why this result is not kept. */
  refusal(value: T): NotKept | null;
}

/** A result, and where it comes from. */
export interface Exact<T> {
  ran: Ran<T>;
  cache: CacheState;
  /** The parts of the request that it has looked at; null where they were not noted. */
  looked: ReadonlySet<string> | null;
}

const allResults = new WeakMap<object, KeptResults<unknown>>();

/** The results live as long as the store of records, that is, as the server. */
function resultsOf({ store }: AppServices): KeptResults<unknown> {
  const results = allResults.get(store) ?? new KeptResults<unknown>();
  allResults.set(store, results);
  return results;
}

/** Forgets all kept results of this server process. */
export function clearKept(services: AppServices): void {
  resultsOf(services).clear();
}

/** The moment at which a request begins: what other processes have committed before is known. */
export function beginRequest({ store, live }: Pick<AppServices, 'store' | 'live'>): RequestBegin {
  const since = live.position();
  let mark: Promise<ReadMark> | undefined;
  return {
    since: () => since,
    mark() {
      mark ??= store.dependencies.refresh().then(() => store.dependencies.mark());
      return mark;
    },
  };
}

/**
 * A result that is the same as a fresh one: a kept one, if nothing has changed of all that it has read and looked at, else a new
 * one (docs/decisions/exact-renderings.md). Within another result, it becomes a part of that.
 */
export async function exactly<T, K>(services: AppServices, visit: Visit, recipe: Recipe<T, K>): Promise<Exact<T>> {
  const exact = await keptOrNew(services, visit, recipe);
  countRendering(services, visit, recipe, exact.cache);
  return exact;
}

/** Counts where a result comes from. */
export function countRendering(
  { metrics }: AppServices,
  { site }: Visit,
  { app, name }: Pick<Recipe<unknown, unknown>, 'app' | 'name'>,
  cache: CacheState,
): void {
  const about = app && { site: site.id, app: app.id };
  metrics.rendering(about, name.split(' ', 1)[0] ?? name, cache === 'hit' || cache === 'miss' ? cache : 'none');
}

/** Results of others that a request waits for before it makes its own: where writes never end, each may have changed meanwhile. */
const MAX_WAITS = 3;

async function keptOrNew<T, K>(services: AppServices, visit: Visit, recipe: Recipe<T, K>): Promise<Exact<T>> {
  const off = whyOff(services, visit, recipe.isOn);
  if (off) {
    visit.inputs?.refuse(off);
    const made = await unkept(services, visit, recipe);
    const ran = { ...made, value: recipe.fromKept(await recipe.toKept(made.value), visit) };
    return { ran, cache: `none; ${off}`, looked: null };
  }
  if (visit.inputs && recipe.app) lookForName(visit.inputs, visit, recipe.app);
  const mark = await (visit.begin as RequestBegin).mark();
  const results = resultsOf(services) as KeptResults<K>;
  const group = results.group(keyOf(visit, recipe));
  const making = { services, visit, recipe, results, group };
  const same = group.sameAs(visit);
  for (let waits = 0; ; waits += 1) {
    const kept = await find(making);
    if (kept) return hit(making, kept);
    const other = group.making.get(same);
    if (!other || group.wasKept === false || waits === MAX_WAITS) break;
    await other.catch(() => undefined);
  }
  // Nothing is awaited since the look: of those that have waited together one makes the result, and the others wait again.
  const made = makeNew(making, mark);
  if (!group.making.has(same)) group.making.set(same, made);
  try {
    return await made;
  } finally {
    if (group.making.get(same) === made) group.making.delete(same);
  }
}

/**
 * Makes a result that is not kept. It has placeholders too: so the text of an unchanged block or page is the same for all visitors,
 * and what is known of that text need not be found out again.
 */
function unkept<T, K>(services: AppServices, visit: Visit, recipe: Recipe<T, K>): Promise<Ran<T>> {
  return recipe.make(services, visit.marked(placeholders), () => undefined);
}

/** Why nothing is kept for a visit, whatever its result. */
function whyOff({ config }: AppServices, visit: Visit, isOn: boolean): NotKept | null {
  if (!config.exactCache || !isOn) return 'off';
  const { begin, writes, dry, pendingLog } = visit;
  return begin && !writes.records && !dry && pendingLog.length === 0 ? null : 'request';
}

/** The site, the address and the app with its state: what all that is kept in one group has in common. */
function keyOf(
  { site, content, contentPath, view, parentRequest, requester }: Visit,
  { app, name }: Pick<Recipe<unknown, unknown>, 'app' | 'name'>,
): string {
  const { id, url, title, theme, locale, timeZone } = site;
  return JSON.stringify([
    ...[id, url, title, theme, locale, timeZone, app?.id, versionOf(app), name],
    ...[contentPath, content.type, content.documentId, content.locale, view, parentRequest !== null],
    ...requesterKey(requester, app),
  ]);
}

/** A page is shared across the requesters of a group, though one of its apps may name some of them. */
function lookForName(page: Inputs, { requester }: Visit, { settings }: App): void {
  const { acl } = settings;
  const { kind, groups } = originalOf(requester);
  if (kind !== 'user' || !acl) return;
  const lists = [...Object.values(acl.rights), ...Object.values(acl.roles)];
  const names = new Set(lists.flat().filter((name) => name !== '*' && !groups.includes(name)));
  if (names.size > 0) page.look(`${NAMED}${JSON.stringify([...names].sort())}`);
}

/** What requesters have in common who share results: their groups and permissions, and what they may do in the app. */
function requesterKey(given: Requester, app: App | null): unknown[] {
  const requester = originalOf(given);
  const { kind, groups, isManager, nameIsGroup } = requester;
  const { granted, roles } = rightsOf(requester, app?.settings.acl ?? null);
  return [kind, groups, isManager, nameIsGroup, appsActions.map((action) => requester.can(action)), granted, roles];
}

interface Making<T, K> {
  services: AppServices;
  visit: Visit;
  recipe: Recipe<T, K>;
  results: KeptResults<K>;
  group: Group<K>;
}

/** The first kept result that agrees with the visit and still holds; those that do not are forgotten. */
async function find<T, K>({ services, visit, results, group }: Making<T, K>): Promise<Kept<K> | null> {
  for (const [key, kept] of group.matching(visit)) {
    if (await holds(services, kept)) return kept;
    results.change(group, () => group.delete(key));
  }
  return null;
}

async function holds({ store: { dependencies } }: AppServices, kept: Kept<unknown>): Promise<boolean> {
  const { inputs, reads } = kept;
  if (inputs.until !== null && Date.now() >= inputs.until) return false;
  // Files and other apps are read again first: a change of records meanwhile must not be missed.
  for (const { was, now } of inputs.checked.values()) if ((await now()) !== was) return false;
  if (dependencies.isUnchanged(kept.heldAt)) return true;
  const now = dependencies.commits();
  for (const read of reads) if (!(await dependencies.holds(read))) return false;
  kept.heldAt = now;
  return true;
}

function hit<T, K>({ visit, recipe }: Making<T, K>, { value, inputs, reads }: Kept<K>): Exact<T> {
  if (inputs.beginsVisitor) visit.visitor?.begin();
  if (visit.inputs) addPart(visit.inputs, inputs, reads);
  const response = { status: null, headers: {}, redirect: null };
  const ran = { value: recipe.fromKept(value, visit), response, logs: [], console: [], flashes: [] };
  return { ran, cache: 'hit', looked: inputs.names };
}

/** Makes a kept result a part of the one that is being made. */
function addPart(whole: Inputs, part: Looked, reads: Kept<unknown>['reads']): void {
  whole.parts.push(...reads);
  addNames(whole, part);
  for (const [name, { was, now }] of part.checked) whole.check(name, was, now);
  if (part.until !== null) whole.holdsUntil(part.until);
  if (part.beginsVisitor) whole.beginsVisitor = true;
}

function addNames(whole: Inputs, { names }: Looked): void {
  for (const name of names) {
    const ofPage = nameInPage(name);
    if (ofPage) whole.look(ofPage);
  }
}

/** What a block has looked at, as a part of the page's own request; null where the block's address says it. */
function nameInPage(name: string): string | null {
  if (name.startsWith('parent_request.')) return name.slice('parent_'.length);
  return name.startsWith('request.') && !name.startsWith('request.headers') ? null : name;
}

/** @param begin the moment before the request has read its content */
async function makeNew<T, K>(making: Making<T, K>, begin: ReadMark): Promise<Exact<T>> {
  const { services, visit, recipe, group } = making;
  const marks = { begin, run: await beginRun(making) };
  const inputs = new Inputs(visit.requester.kind);
  const observed = observedVisit(visit, inputs);
  let reads: UnitReads | null = new Map();
  const seen = (run: Run) => {
    reads = run.unit.reads();
    if (!reads || run.mails.length > 0) inputs.refuse('writes');
  };
  const made = await recipe.make(observedServices(services, inputs), observed, seen);
  const value = await recipe.toKept(made.value);
  const ran = { ...made, value: recipe.fromKept(value, visit) };
  const refused = inputs.reason ?? recipe.refusal(made.value) ?? refusalOf(made);
  const kept = refused ?? (reads ? await keep(making, marks, { value, inputs, reads }) : 'writes');
  // What another process has committed meanwhile says nothing of the next one.
  group.wasKept = typeof kept !== 'string' || kept === 'busy';
  const looked = inputs.isNoted ? inputs.names : null;
  if (typeof kept === 'string') {
    if (visit.inputs) addRefused(visit.inputs, kept, inputs);
    return { ran, cache: `none; ${kept}`, looked };
  }
  if (visit.inputs) addPart(visit.inputs, kept.inputs, kept.reads);
  return { ran, cache: 'miss', looked };
}

/** Makes a result that is not kept a part of the one that is being made. */
function addRefused(whole: Inputs, reason: NotKept, part: Inputs): void {
  whole.refuse(reason);
  if (!part.isNoted) whole.isNoted = false;
  addNames(whole, part);
}

/** When something was read. */
interface Marks {
  /** Before the request has read its content. */
  begin: ReadMark;
  /** Before the run, whose unit of work reads the records. */
  run: ReadMark;
}

/**
 * The moment before a run. Requests that had begun before a commit still make results that hold after it: under load there are some at each
 * commit, and all others wait for the first of them.
 */
async function beginRun<T, K>({ services: { store }, group }: Making<T, K>): Promise<ReadMark> {
  await store.dependencies.refresh();
  return store.dependencies.counted(store.dependencies.mark(), group.scopes);
}

/** Keeps a result, unless another process may have changed meanwhile what it has read, or it is too large. */
async function keep<T, K>(
  { services, visit, recipe, results, group }: Making<T, K>,
  marks: Marks,
  { value, inputs, reads }: { value: K; inputs: Inputs; reads: UnitReads },
): Promise<Kept<K> | 'busy' | 'size'> {
  const { dependencies } = services.store;
  const own: KeptReads[] = [];
  for (const [mark, some] of [
    [marks.run, reads],
    [marks.begin, contentReads(services, visit, inputs)],
  ] as const) {
    const kept = some.size > 0 && (await dependencies.keep(mark, some));
    if (kept === null) return 'busy';
    if (kept) own.push(kept);
  }
  const size = recipe.sizeOf(value) + 500 + 200 * (inputs.names.size + inputs.checked.size);
  const kept: Kept<K> = { value, inputs, reads: [...own, ...inputs.parts], heldAt: null, size };
  group.scopes = new Set(reads.keys());
  return results.change(group, () => group.set(visit, kept)) ? kept : 'size';
}

/** The content of Strapi that was looked at. */
function contentReads(services: AppServices, { content }: Visit, inputs: Inputs): UnitReads {
  if (inputs.names.has('content') && content.documentId !== null)
    inputs.readContent([...services.relatedTypes(content.type), ...RIGHTS]);
  return new Map([...inputs.content].map((uid) => [contentScope(uid), 'any'] as const));
}
