import { rightsOf } from '../../auth';
import type { Requester, Rights } from '../../auth/types';
import { OwnValue } from '../../common/request-objects';

import type { KeptReads } from '../../records/types';
import type { App } from '../types';
import type { Ran, Visit } from './types';
import { ownerOf } from './visits';

type Settings = App['settings'];

/**
 * Why a result of logic or of a layout is not kept (docs/reference/embedding.md#exact-renderings):
 * `clock` and `random`: it has read the time, or drawn a number;
 * `headers`, `status`, `redirect`: it has set them; `writes`: it has changed something or sent a mail;
 * `fetch`: it has called a web service; `logs`: it has written to the log; `flash`: it has a message for its visitor;
 * `failed`: a part of it could not be shown; `signed`: it shows an address that holds for a time only;
 * `requester`: it depends on who asks; `everything`: it has looked at more than is noted;
 * `busy`: another process changed something meanwhile; `size`: it is too large; `off`: the definition or the configuration says so;
 * `request`: it is for a request that writes, or continues another one.
 */
export type NotKept =
  | 'clock'
  | 'random'
  | 'headers'
  | 'status'
  | 'redirect'
  | 'writes'
  | 'fetch'
  | 'logs'
  | 'flash'
  | 'failed'
  | 'signed'
  | 'requester'
  | 'everything'
  | 'busy'
  | 'size'
  | 'off'
  | 'request';

/** A file, or another input that can be read again cheaply: as it was, and how to read it. */
interface CheckedInput {
  was: unknown;
  now(): Promise<unknown>;
}

/** Names, checked inputs and content types that are noted for one rendering. */
const MAX_INPUTS = 200;

/** Reasons for which a result may have looked at more than its names say: nothing was noted, or not all. */
const unnoted: ReadonlySet<NotKept> = new Set<NotKept>(['off', 'request', 'everything']);

/** Names of the sandbox that say by themselves why a result is not kept. */
const unkept: ReadonlySet<string> = new Set<NotKept>(['clock', 'random', 'everything']);

/** Names of the sandbox for what tells one requester from another. */
const personal: ReadonlySet<string> = new Set(['user', 'acl']);

/** What a run has looked at besides records: decides for whom, and until when, its result may be kept. */
export class Inputs {
  /** Parts of the request and the visitor, such as `request.query.page`. */
  readonly names = new Set<string>();
  /** Types of Strapi's content. */
  readonly content = new Set<string>();
  readonly checked = new Map<string, CheckedInput>();
  /** Results that it consists of: what they have read of records and content. */
  readonly parts: KeptReads[] = [];
  /** Milliseconds since 1970: until then what was made of the time stays the same. */
  until: number | null = null;
  /** Whether a visitor without a cookie gets one. */
  beginsVisitor = false;
  reason: NotKept | null = null;
  /** Whether the names are all that was looked at of the request. */
  isNoted = true;

  /** @param kind of who asks: anonymous is the same for all, so that nothing depends on them */
  constructor(private readonly kind: Requester['kind']) {}

  /** The first reason counts. */
  refuse(reason: NotKept): void {
    this.reason ??= reason;
    if (unnoted.has(reason)) this.isNoted = false;
  }

  look(name: string): void {
    // What users may read of content follows from their group.
    if (name === 'content' && this.kind !== 'user') this.readRequester();
    if (unkept.has(name)) this.refuse(name as NotKept);
    else if (personal.has(name)) this.readRequester();
    else if (this.names.size < MAX_INPUTS || this.names.has(name)) this.names.add(name);
    else this.refuse('everything');
  }

  /** Who asks was looked at, and not only their groups and permissions. */
  readRequester(): void {
    if (this.kind !== 'anonymous') this.refuse('requester');
  }

  lookAll(names: Iterable<string>): void {
    for (const name of names) this.look(name);
  }

  /** @param until in milliseconds since 1970 */
  holdsUntil(until: number): void {
    this.until = Math.min(this.until ?? until, until);
  }

  /** @param until for how long what was made of the time stays the same; without it, it is not kept */
  readClock(until?: number): void {
    if (until === undefined) this.refuse('clock');
    else this.holdsUntil(until);
  }

  readContent(uids: Iterable<string>): void {
    for (const uid of uids) this.content.add(uid);
  }

  /** @param now reads it again */
  check(name: string, was: unknown, now: () => Promise<unknown>): void {
    if (this.checked.has(name)) return;
    if (this.checked.size >= MAX_INPUTS) this.refuse('everything');
    else this.checked.set(name, { was, now });
  }
}

/** Why what a run has done besides its result forbids to keep that; null where nothing does. */
export function refusalOf({ response, logs, console, flashes }: Omit<Ran<unknown>, 'value'>): NotKept | null {
  const { status, headers, redirect, type } = response;
  const reasons: [boolean, NotKept][] = [
    [status !== null, 'status'],
    [redirect !== null, 'redirect'],
    [Object.keys(headers).length > 0 || type !== undefined, 'headers'],
    [logs.length > 0 || console.length > 0, 'logs'],
    [flashes.length > 0, 'flash'],
  ];
  return reasons.find(([is]) => is)?.[1] ?? null;
}

/** Objects that note what is read of them, with the ones that they stand for. */
const originals = new OwnValue<object, object>('original');

/** Notes the object behind `observed`, and returns `observed`. */
export function noteOriginal<T extends object>(observed: T, original: T): T {
  originals.set(observed, original);
  return observed;
}

/** The object itself: reading it notes nothing. */
export function originalOf<T extends object>(given: T): T {
  const original = originals.get(given) as T | undefined;
  return original ? originalOf(original) : given;
}

/** The requester; looking at one of `parts` says that a result is theirs alone. */
export const observedRequester = (
  requester: Requester,
  parts: readonly (keyof Requester)[],
  inputs: Inputs,
): Requester => noteOriginal(new ObservedRequester(requester, parts, inputs), requester);

/** A class: getters of each object itself would keep the request up to the next full collection (docs/decisions/garbage.md). */
class ObservedRequester implements Requester {
  constructor(
    private readonly requester: Requester,
    private readonly parts: readonly (keyof Requester)[],
    private readonly inputs: Inputs,
  ) {}

  private read<Part extends keyof Requester>(part: Part): Requester[Part] {
    if (this.parts.includes(part)) this.inputs.readRequester();
    return this.requester[part];
  }

  get kind() {
    return this.read('kind');
  }
  get credential() {
    return this.read('credential');
  }
  get identity() {
    return this.read('identity');
  }
  get adminToken() {
    return this.read('adminToken');
  }
  get username() {
    return this.read('username');
  }
  get groups() {
    return this.read('groups');
  }
  get nameIsGroup() {
    return this.read('nameIsGroup') ?? false;
  }
  get isManager() {
    return this.read('isManager');
  }
  get can() {
    return this.read('can');
  }
  get profile() {
    return this.read('profile');
  }
  get auth() {
    return this.read('auth');
  }
}

/**
 * The rights of a visit's requester in the app whose block it asks for. What its `acl` grants decides who shares a result, so that only
 * a right to own records tells one requester from another.
 */
export function rightsIn(visit: Visit, { acl, visitor }: Pick<Settings, 'acl' | 'visitor'>): Rights {
  const { requester, inputs, isForApp } = visit;
  const original = originalOf(requester);
  if (isForApp) return rightsOf({ ...original, isManager: true }, acl);
  const asked = inputs ? observedRequester(original, ['identity'], inputs) : original;
  return rightsOf(original, acl, () =>
    ownerOf({ requester: asked, site: visit.site, visitor: visit.visitor }, { visitor }),
  );
}
