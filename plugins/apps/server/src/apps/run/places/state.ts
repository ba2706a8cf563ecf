import type { PlacesData } from '../../../../../shared/logic-protocol';
import { placeIndex } from '../../../indexes';
import type { AppKey, Place } from '../../../records/types';
import { listedOptions } from '../../elements';
import type { App, Block, ElementDefinition } from '../../types';
import type { Run } from '../types';
import { openAt, optionLimits, statePlace } from './rules';

/**
 * What a block's places are now; null for a block without rules about them. What it counts is part of what the run has read, and a
 * rendering of it holds until the block opens or closes.
 */
export async function placesData(
  run: Pick<Run, 'unit' | 'visit'>,
  app: App,
  { id, definition: { places } }: Block,
): Promise<PlacesData | null> {
  if (!places) return null;
  const key = { site: run.visit.site.id, app: app.id };
  const { limit, waitingList } = places;
  const { state, until } = openAt(places, run.visit.site, Date.now());
  if (until !== null) {
    run.visit.inputs?.readClock(until);
    run.visit.onTime(until);
  }
  const taken = await countOf(run, app, key, statePlace(id, 'taken'));
  const waiting = waitingList ? await countOf(run, app, key, statePlace(id, 'waiting')) : 0;
  const left = limit === null ? null : Math.max(0, limit - taken);
  return { limit, taken, left, waiting, state: state === 'open' && left === 0 ? 'full' : state };
}

const countOf = ({ unit }: Pick<Run, 'unit'>, app: App, key: AppKey, place: Place): Promise<number> =>
  unit.count(key, app.indexes, undefined, { place });

/** How many more records may choose each option of an element that has a limit, by the option's value as text. */
export async function optionsLeft(
  run: Pick<Run, 'unit' | 'visit'>,
  app: App,
  block: Block,
  element: ElementDefinition,
): Promise<ReadonlyMap<string, number>> {
  const key = { site: run.visit.site.id, app: app.id };
  const left = new Map<string, number>();
  for (const [value, limit] of optionLimits(listedOptions(element) ?? [])) {
    const place = { index: placeIndex(block.id, 'option', element.name), value };
    left.set(value, Math.max(0, limit - (await countOf(run, app, key, place))));
  }
  return left;
}
