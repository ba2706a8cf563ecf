import type { Items } from '../../../../../shared/json';
import { memoized } from '../../../common/collections';
import type { Awaitable } from '../../../common/time/awaitable';
import { documentIdsIn } from '../../../files';
import { FILES_INDEX, isLapsed, isUnconfirmed, type Place, SERVER_ITEMS, STATE } from '../../../indexes';
import type { AppKey, StoredRecord } from '../../../records/types';
import type { App, Block, Places } from '../../types';
import { type FormError, FormRefusal, type PlaceCode } from '../refusals';
import type { Run } from '../types';
import { localeOf, refusal, runIn } from '../visits';
import type { PlaceChange } from './changes';
import { beginConfirmation, mustConfirm, refuseUnconfirmed } from './confirmation';
import { settleState } from './record-states';
import { blockOfItems, openAt, optionsNamed, placesTaken, placeText, statePlace, type TakenPlace } from './rules';

/** The name by which commits that claim files of one app are locked. */
const CLAIMED = '@files';

/** Whether a record named files before a change or names some after it. */
const namesFiles = ({ before, after }: PlaceChange): boolean =>
  documentIdsIn(before).length + documentIdsIn(after).length > 0;

/**
 * A private file belongs to one record, whose rights it has: 422 where a changed record comes to name one that another record names, or
 * one of another app (docs/decisions/private-files.md). The commit checks it again, so that of two requests at the same moment one is
 * refused. Files that this request has stored are known to no other one: for them nothing is read.
 */
async function settleFiles(run: Run, { key, before, after }: PlaceChange): Promise<void> {
  const [had, now] = [new Set(documentIdsIn(before)), new Set(documentIdsIn(after))];
  for (const id of had) if (!now.has(id)) count(run, key, id, -1);
  const taken = [...now].filter((id) => !had.has(id));
  const own = run.visit.files?.storedIds(key) ?? new Set();
  const named = taken.filter((id) => !own.has(id));
  const known = named.length > 0 ? await run.unit.alongside(() => run.services.files.privateFiles(named)) : [];
  const wrong = new Set(known.flatMap(({ documentId, ...of }) => (isOf(of, key) ? [] : [documentId])));
  for (const { documentId } of known) if (!wrong.has(documentId)) await claimFile(run, key, documentId, wrong);
  for (const id of own) if (now.has(id) && !had.has(id) && count(run, key, id, 1) > 1) wrong.add(id);
  if (wrong.size > 0) throw await refusalOf(run, after ?? {}, wrong);
}

const isOf = ({ site, app }: AppKey, key: AppKey): boolean => site === key.site && app === key.app;

/** Gives the changed record a file that no other record names; else it is wrong. */
async function claimFile(run: Run, key: AppKey, id: string, wrong: Set<string>): Promise<void> {
  const place = { index: FILES_INDEX, value: id };
  const stored = await run.unit.countPlace(key, new Map(), place, 1);
  if (stored.count + count(run, key, id, 1) > 1) wrong.add(id);
  else run.unit.claim(key, { kind: 'most', block: CLAIMED, place, max: 1 });
}

/** Adds to the number of records by which this attempt changes those that name a file; what it adds then. */
function count({ places }: Run, { site, app }: AppKey, id: string, by: number): number {
  const name = JSON.stringify([site, app, FILES_INDEX, id]);
  const added = (places.added.get(name) ?? 0) + by;
  places.added.set(name, added);
  return added;
}

/** The refusal beside the fields that name the files. */
async function refusalOf(run: Run, items: Items, wrong: ReadonlySet<string>): Promise<FormRefusal> {
  const { say } = await localeOf(run);
  const names = Object.entries(items).flatMap(([name, value]) =>
    documentIdsIn(value).some((id) => wrong.has(id)) ? [name] : [],
  );
  const errors = names.map((name) => ({ path: [name], message: say('file_other') }));
  return new FormRefusal(errors, run.budget);
}

type Ruled = Block & { places: Places };

/** An app whose records have places or states, in one attempt at a request. */
interface Scope {
  run: Run;
  app: App;
  key: AppKey;
}

/** Records of a waiting list that are read at once. */
const WAITING = 100;

/**
 * Gives the records that the attempt has changed their places and states, by the rules of their blocks (docs/decisions/places.md), whatever
 * way they came: 409 with `details.code` or 422 where there is none. Each decision is a claim that is checked again in the
 * transaction of the commit. Called before the commit, before the `on_save` of a record, and after each record of a bulk creation, so
 * that the error names it. A refusal ends the attempt, also where logic catches it.
 */
export async function settlePlaces(run: Run): Promise<void> {
  const changes = run.places.take();
  if (changes.length === 0) return;
  try {
    await settleAll(run, changes);
  } catch (error) {
    run.fatal.error ??= error;
    throw error;
  }
}

async function settleAll(run: Run, changes: readonly PlaceChange[]): Promise<void> {
  const apps = new Map<string, App | null>();
  for (const change of changes) {
    if (namesFiles(change)) await settleFiles(run, change);
    const { key } = change;
    const name = `${key.site}/${key.app}`;
    if (!apps.has(name)) apps.set(name, await appOf(run, key));
    const app = apps.get(name);
    if (app) requireRules(run, app, change);
    // By the settings of the record's app, whose mails may be sent: logic of another one may have changed it.
    if (app && hasRules(app)) await settle({ run: runIn(run, app), app, key }, change);
  }
}

/**
 * Throws the error of a broken block that a record comes into or stays in: what its places and states are is not known. A record may leave it,
 * and lose the places that it holds until it is confirmed.
 */
function requireRules({ places }: Run, { blocks }: App, { id, after }: PlaceChange): void {
  const block = blocks.get(String(after?.block));
  if (!block?.error || !after || (places.byServer.has(id) && isLapsed(after))) return;
  throw block.error;
}

const appOf = (run: Run, key: AppKey): Awaitable<App | null> =>
  key.app === run.app.id ? run.app : run.services.loadApp(run.visit.site, key.app);

/** Whether there is something to settle for records of an app. */
const hasRules = memoized(
  ({ confirms, blocks }: App) =>
    confirms || [...blocks.values()].some(({ definition }) => definition.places || definition.states),
);

async function settle(scope: Scope, change: PlaceChange): Promise<void> {
  const moved = await withoutServerItems(scope, change);
  await settleInBlock(scope, moved);
  if (moved !== change) await sendWaiting(scope, change);
}

/**
 * A record that comes into another block leaves behind what the server has noted of its place and its confirmation: the rules of the new
 * block decide about it.
 */
async function withoutServerItems({ run, key }: Scope, change: PlaceChange): Promise<PlaceChange> {
  const { id, before, after } = change;
  if (!before || !after || before.block === after.block) return change;
  const left = SERVER_ITEMS.filter((name) => Object.hasOwn(after, name) && after[name] === before[name]);
  if (left.length === 0) return change;
  const { items } = await run.places.own({ key, id }, () => run.unit.update(key, id, { unset: left }));
  return { ...change, after: items };
}

/** Sends the mails that have waited for the confirmation of a record, where it has left its block and counts now. */
async function sendWaiting({ run, app, key }: Scope, { id, before }: PlaceChange): Promise<void> {
  if (!before || !isUnconfirmed(before)) return;
  const block = app.blocks.get(String(before.block));
  const record = await run.unit.get(key, id);
  if (block && !block.error && record && !isUnconfirmed(record.items))
    await run.services.nested.sendWaited(run, block, record, before);
}

async function settleInBlock(scope: Scope, change: PlaceChange): Promise<void> {
  const { creator, before } = change;
  await refuseUnconfirmed(scope.run, scope.app, change);
  const after = await unconfirmedFirst(scope, change);
  await settleState(scope.run, scope.app, { ...change, after });
  const [from, to] = [blockOfItems(scope.app, before), blockOfItems(scope.app, after)];
  if (!from && !to) return;
  const { site } = scope.run.visit;
  const left = from && before ? placesTaken(from, { items: before, creator }, site) : [];
  const taken = to && after ? placesTaken(to, { items: after, creator }, site) : [];
  for (const place of without(left, taken)) add(scope, place, -1);
  const stays = to !== null && from?.id === to.id;
  const [had, has] = [from && before && !isLapsed(before), to && after && !isLapsed(after)];
  const keeps = stays && had && has;
  if (from && before && had && !keeps) {
    add(scope, statePlace(from.id, stateOf(before)), -1);
    // A place of another block, or of an unconfirmed record, that becomes free.
    await moveUp(scope, from);
  }
  if (!to || !after) return;
  const isByServer = scope.run.places.byServer.has(change.id) || isUnconfirmed(after);
  if (!isByServer) await refuseState(scope, after, stays ? before : null);
  if (!stays) await requireOpen(scope, to, creator);
  await takePlaces(scope, to, without(taken, left));
  if (has && !keeps) await takeState(scope, to, change);
}

/** The items of a record; those of one that must be confirmed say so. Over the limit it has no place until then. */
async function unconfirmedFirst(scope: Scope, change: PlaceChange): Promise<Items | null> {
  const { after } = change;
  if (!after || !mustConfirm(scope.run, scope.app, change)) return after;
  const block = blockOfItems(scope.app, after);
  const waits = block?.places.waitingList === true && (await hasNoPlace(scope, block));
  return beginConfirmation(scope.run, change, after, block !== null && !waits);
}

/** Whether the next record of a block with a waiting list waits. */
async function hasNoPlace(scope: Scope, block: Ruled): Promise<boolean> {
  const { limit } = block.places;
  await moveUp(scope, block);
  return limit !== null && (await isFull(scope, statePlace(block.id, 'taken'), limit));
}

const without = (places: readonly TakenPlace[], others: readonly TakenPlace[]): TakenPlace[] => {
  const known = new Set(others.map(nameOf));
  return places.filter((place) => !known.has(nameOf(place)));
};

const nameOf = ({ index, value }: Place): string => JSON.stringify([index, value]);

const stateOf = (items: Items): 'taken' | 'waiting' => (items[STATE] === 'waiting' ? 'waiting' : 'taken');

/** Whether a place has as many records as it may in this attempt: those that are committed, and its own. */
async function isFull({ run, app, key }: Scope, place: Place, max: number): Promise<boolean> {
  const name = JSON.stringify([key.site, key.app, place.index, place.value]);
  const enough = max - (run.places.added.get(name) ?? 0);
  const known = run.places.counted.get(name);
  if (known !== undefined) return known >= enough;
  const { count, isExact } = await run.unit.countPlace(key, app.indexes, place, enough);
  if (isExact) run.places.counted.set(name, count);
  return count >= enough;
}

function add({ run, key }: Scope, { index, value }: Place, by: number): void {
  const name = JSON.stringify([key.site, key.app, index, value]);
  run.places.added.set(name, (run.places.added.get(name) ?? 0) + by);
}

/** 422 where the item was set by other means than the server that says who waits. */
async function refuseState({ run }: Scope, after: Items, before: Items | null): Promise<void> {
  if ((after[STATE] ?? null) === (before?.[STATE] ?? null)) return;
  const { say } = await localeOf(run);
  throw new FormRefusal([{ path: [STATE], message: say('server_item') }], run.budget);
}

/** Refuses a record that comes into a block which is not open, and one without a creator where each requester has a limit. */
async function requireOpen({ run }: Scope, block: Ruled, creator: string | null): Promise<void> {
  const { state } = openAt(block.places, run.visit.site, Date.now());
  if (state !== 'open') throw await noPlace(run, block, state);
  const { requester, origin } = run.visit;
  const isKnown = block.places.perRequester === null || creator !== null;
  if (isKnown || requester.kind !== 'anonymous' || origin.kind !== 'request') return;
  if (!run.app.settings.visitor) throw refusal(requester, 'send this form');
  run.visit.visitor?.begin();
  const { say } = await localeOf(run);
  throw new FormRefusal([{ path: [], message: say('needs_cookie') }], run.budget);
}

/** Refuses a new record of a block that takes none, before its fields are checked and its logic runs. */
export async function requirePlace(run: Run, block: Block): Promise<void> {
  const { places } = block.definition;
  if (!places) return;
  const ruled = { ...block, places };
  const { state } = openAt(places, run.visit.site, Date.now());
  if (state !== 'open') throw await noPlace(run, ruled, state);
  const { limit, waitingList } = places;
  const scope = { run, app: run.app, key: { site: run.visit.site.id, app: run.app.id } };
  if (limit !== null && !waitingList && (await isFull(scope, statePlace(block.id, 'taken'), limit)))
    throw await noPlace(run, ruled, 'full');
}

/** The 409 of a record for which a block has no place, with the text that its page shows. */
async function noPlace(run: Run, block: Ruled, code: PlaceCode): Promise<FormRefusal> {
  const locale = await localeOf(run);
  return new FormRefusal([{ path: [], message: placeText(block.places, code, locale) }], run.budget, [], code);
}

async function takePlaces(scope: Scope, block: Ruled, places: readonly TakenPlace[]): Promise<void> {
  const errors: FormError[] = [];
  for (const place of places) {
    if (!(await isFull(scope, place, place.max))) {
      claim(scope, block, place, place.max);
      continue;
    }
    if ('code' in place.about) throw await noPlace(scope.run, block, place.about.code);
    errors.push(await messageOf(scope.run, block, place, place.about));
  }
  if (errors.length > 0) throw new FormRefusal(errors, scope.run.budget);
}

function claim(scope: Scope, { id }: Block, { index, value }: Place, max: number): void {
  add(scope, { index, value }, 1);
  scope.run.unit.claim(scope.key, { kind: 'most', block: id, place: { index, value }, max });
}

async function messageOf(
  run: Run,
  { definition }: Block,
  { value }: Place,
  { element, isOption }: { element: string; isOption: boolean },
): Promise<FormError> {
  const { say } = await localeOf(run);
  if (!isOption) return { path: [element], message: say('not_unique') };
  const option = optionsNamed(definition, element).find((one) => String(one.value) === value);
  return { path: [element], message: say('option_is_full', { label: option?.label ?? value }) };
}

/** Gives a record that comes into a block one of its places, or a place on its waiting list; 409 where there is none. */
async function takeState(scope: Scope, block: Ruled, { id }: PlaceChange): Promise<void> {
  const { limit, waitingList } = block.places;
  // Without a limit too, so that what a page counts is right.
  if (limit === null) return;
  if (waitingList) await moveUp(scope, block);
  const taken = statePlace(block.id, 'taken');
  if (!(await isFull(scope, taken, limit))) return claim(scope, block, taken, limit);
  if (!waitingList) throw await noPlace(scope.run, block, 'full');
  add(scope, statePlace(block.id, 'waiting'), 1);
  const { run, key } = scope;
  run.places.joined.add(id);
  await run.places.own({ key, id }, () => run.unit.update(key, id, { set: { [STATE]: 'waiting' } }));
  settled(scope, block, limit);
}

function settled({ run, key }: Scope, { id: block }: Block, max: number): void {
  const places = { taken: statePlace(block, 'taken'), waiting: statePlace(block, 'waiting') };
  run.unit.claim(key, { kind: 'settled', block, ...places, max });
}

/** Gives free places of a block to those who wait, in order of creation, with a mail to each. */
async function moveUp(scope: Scope, block: Ruled): Promise<void> {
  const { limit, waitingList } = block.places;
  if (limit === null || !waitingList) return;
  settled(scope, block, limit);
  const [taken, waiting] = [statePlace(block.id, 'taken'), statePlace(block.id, 'waiting')];
  for (let after = 0; !(await isFull(scope, taken, limit)) && (await isFull(scope, waiting, 1)); ) {
    const { records, next } = await firstWaiting(scope, waiting, after);
    // Others have changed the list: the claim does not hold, and this runs again.
    if (records.length === 0) return;
    after = next;
    for (const record of records) {
      if (await isFull(scope, taken, limit)) break;
      if (record.items.block !== block.id || record.items[STATE] !== 'waiting') continue;
      const { run, key } = scope;
      const { id } = record;
      const moved = await run.places.own({ key, id }, () => run.unit.update(key, id, { unset: [STATE] }));
      add(scope, waiting, -1);
      claim(scope, block, taken, limit);
      await run.services.nested.notifyOfPlace(run, block, moved);
    }
  }
}

/** The next who wait, as this attempt has them: those that are stored, then those that it has put on the list itself. */
async function firstWaiting(
  { run, app, key }: Scope,
  waiting: Place,
  after: number,
): Promise<{ records: StoredRecord[]; next: number }> {
  const page = { limit: WAITING, after };
  const found = after === Number.POSITIVE_INFINITY ? [] : await run.unit.firstInPlace(key, app.indexes, waiting, page);
  const ids = found.length > 0 ? found.map(({ id }) => id) : [...run.places.joined];
  const records: StoredRecord[] = [];
  for (const id of ids) {
    const record = await run.unit.get(key, id);
    if (record) records.push(record);
  }
  if (found.length === 0) run.places.joined.clear();
  return { records, next: found.at(-1)?.seq ?? Number.POSITIVE_INFINITY };
}

/** Gives free places of all blocks of the run's app to those who wait. */
export async function moveUpAll(run: Run): Promise<void> {
  const { app, visit } = run;
  const scope = { run, app, key: { site: visit.site.id, app: app.id } };
  for (const block of app.blocks.values()) {
    const { places } = block.definition;
    if (places && !block.error) await moveUp(scope, { ...block, places });
  }
}
