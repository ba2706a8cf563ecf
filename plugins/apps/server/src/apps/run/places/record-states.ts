import type { Items, Json } from '../../../../../shared/json';
import { allows } from '../../../auth';
import { isUnconfirmed } from '../../../indexes';
import type { Through } from '../../../records';
import type { StoredRecord } from '../../../records/types';
import type { ReservedField } from '../../elements';
import type { App, Block, DeclaredState, States } from '../../types';
import { FormRefusal } from '../refusals';
import type { Run } from '../types';
import { localeOf, refusal } from '../visits';
import type { PlaceChange } from './changes';

/** The item that the state of a record is. */
const ITEM = 'state';

type Stated = Block & { states: States };

/** The block of a record, if its records have states. */
function statedBlock(app: App, items: Items | null): Stated | null {
  const id = items?.block;
  const block = typeof id === 'string' ? app.blocks.get(id) : undefined;
  const states = block?.definition.states;
  return block && states ? { ...block, states } : null;
}

/**
 * The state of a record: of one from before the block had states, the first; null for a value that is none of its states, such as one
 * that the definition had earlier.
 */
export function stateOf({ initial, all }: States, items: Items): DeclaredState | null {
  const value = items[ITEM];
  return all.get(value === undefined || value === null ? initial : String(value)) ?? null;
}

/** The states that a record may come into: of one whose state there is no longer, all. */
export const waysFrom = ({ all }: States, from: DeclaredState | null): readonly string[] => from?.to ?? [...all.keys()];

/** How a state is called: by the definition, in the language of the site, else its name. */
export const labelOf = ({ all }: States, name: string): string => all.get(name)?.label ?? name;

/**
 * Whether the requester may change the state of a record that is in `from`: whom `by` names, without `by` those who may change the record;
 * managers, and in the panel administrators who may change records.
 */
export function mayMove(
  run: Pick<Run, 'visit' | 'rights'>,
  from: DeclaredState | null,
  creator: string | null,
): boolean {
  const { requester, inputs, through } = run.visit;
  if (run.rights.manager || through === 'panel') return true;
  if (!from?.by) return run.rights.edit(creator);
  // Whom a list names is no right that others share.
  inputs?.readRequester();
  return allows(requester, from.by);
}

/** The same for the present state of a record; false without states. */
export function mayMoveRecord(run: Pick<Run, 'visit' | 'rights' | 'app'>, { items, creator }: StoredRecord): boolean {
  const block = statedBlock(run.app, items);
  return block !== null && mayMove(run, stateOf(block.states, items), creator);
}

/** Whether a way leads from the state of a record to another one. */
export function leadsTo(app: App, { items }: Pick<StoredRecord, 'items'>, to: string): boolean {
  const block = statedBlock(app, items);
  return block !== null && waysFrom(block.states, stateOf(block.states, items)).includes(to);
}

/** Ways in of people and other programs, for whom `by` holds; the author of logic decides for it. */
const ofClients: ReadonlySet<Through> = new Set(['form', 'json', 'panel', 'self_service']);

/**
 * Checks the state of a record that a request has changed, and gives a record that comes into its block the first one: 409 with
 * `details.code` `state` where no way leads, 401 or 403 where it is another's. An import restores any state of the block, and a
 * restore the one that a deleted record had.
 */
export async function settleState(
  run: Run,
  app: App,
  { key, id, creator, before, after, movedBy }: PlaceChange,
): Promise<void> {
  const block = statedBlock(app, after);
  if (!block || !after) return;
  const { states } = block;
  const stays = before !== null && before.block === block.id;
  const [was, is] = [before?.[ITEM] ?? null, after[ITEM] ?? null];
  const isImport = movedBy === 'import' || (before === null && run.places.restored.has(id));
  if (isImport && is !== null) return requireWay(run, states, null, is);
  if (!stays && (is === null || is === was)) {
    const { initial } = states;
    await run.places.own({ key, id }, () => run.unit.update(key, id, { set: { [ITEM]: initial } }));
    return entered(run, block, { key, id }, states.all.get(initial));
  }
  if (stays && is === was) return;
  const isClient = movedBy !== undefined && ofClients.has(movedBy);
  if (!stays && is === states.initial) return entered(run, block, { key, id }, states.all.get(is));
  if (!stays && isClient) throw await noWay(run, states, null, is);
  // Logic makes a record and changes its state at once.
  const from = stateOf(states, stays ? before : {});
  await requireWay(run, states, from, is);
  if (isClient && !mayMove(run, from, creator)) throw refusal(run.visit.requester, 'change the state of this record');
  await entered(run, block, { key, id }, states.all.get(String(is)));
}

/** @param from null: any state of the block is right */
async function requireWay(run: Run, states: States, from: DeclaredState | null, to: Json): Promise<void> {
  if (typeof to === 'string' && states.all.has(to) && waysFrom(states, from).includes(to)) return;
  throw await noWay(run, states, from, to);
}

async function noWay(run: Run, states: States, from: DeclaredState | null, to: Json): Promise<FormRefusal> {
  const { say } = await localeOf(run);
  const name = typeof to === 'string' ? labelOf(states, to) : (JSON.stringify(to) ?? '');
  const message = say('no_way', { from: from ? labelOf(states, from.name) : '–', to: name });
  return new FormRefusal([{ path: [ITEM], message }], run.budget, [], 'state');
}

/** Queues the mail of the state that a record has come into before it was confirmed. */
export async function announceState(run: Run, record: StoredRecord): Promise<void> {
  const block = statedBlock(run.app, record.items);
  const state = block && stateOf(block.states, record.items);
  if (block && state)
    await entered(run, block, { key: { site: run.visit.site.id, app: run.app.id }, id: record.id }, state);
}

/** Queues the mail of a state into which a record has come. */
async function entered(
  run: Run,
  block: Block,
  { key, id }: Pick<PlaceChange, 'key' | 'id'>,
  state: DeclaredState | undefined,
): Promise<void> {
  const notify = state?.notify;
  const record = notify && (await run.unit.get(key, id));
  // Of one that waits until it is confirmed, then.
  if (notify && record && !isUnconfirmed(record.items)) await run.services.nested.notify(run, block, record, notify);
}

/** What shows the state of a record in a layout, and the name of its buttons. */
export const STATE_BUTTONS = '_state' satisfies ReservedField;
