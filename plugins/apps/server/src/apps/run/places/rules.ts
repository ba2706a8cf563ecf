import type { Items } from '../../../../../shared/json';
import type { PlacesData } from '../../../../../shared/logic-protocol';
import { serverTimeZone } from '../../../common/time/cron';
import { momentInZone, readableMoment } from '../../../common/time/moments';
import { type Place, placeIndex, placeValues } from '../../../indexes';
import type { AppKey } from '../../../records/types';
import type { Site } from '../../../sites/types';
import { listedOptions } from '../../elements';
import type { PageLocale } from '../../locales';
import type { App, Block, Definition, ElementDefinition, ElementOption, LocalTime, Places } from '../../types';
import type { PlaceCode } from '../refusals';
import type { Run } from '../types';

/** A place that a record of a block takes, and how many records may take it. */
export interface TakenPlace extends Place {
  max: number;
  /** What is said when there is none: of an element a message beside it, else the code. */
  about: { element: string; isOption: boolean } | { code: Extract<PlaceCode, 'once' | 'full'> };
}

/** The block of a record, if records of it have places. */
export function blockOfItems(app: App, items: Items | null): (Block & { places: Places }) | null {
  const id = items?.block;
  const block = typeof id === 'string' ? app.blocks.get(id) : undefined;
  const places = block?.definition.places;
  return block && places ? { ...block, places } : null;
}

/** The places that a record of the block takes, in the order in which they are checked. */
export function placesTaken(
  { id, definition, places }: Block & { places: Places },
  record: { items: Items; creator: string | null },
  site: Pick<Site, 'timeZone'>,
): TakenPlace[] {
  const taken = (index: string, max: (value: string) => number | null, about: TakenPlace['about']): TakenPlace[] =>
    placeValues(index, record).flatMap((value) => {
      const most = max(value);
      return most === null ? [] : [{ index, value, max: most, about }];
    });
  const own = taken(placeIndex(id, 'by'), () => places.perRequester, { code: 'once' });
  const unique = places.unique.flatMap((element) => {
    const { isAddress, isClock } = definition.elements.get(element)?.kind ?? {};
    // Of a time both: the release before counts by the text alone.
    const clock = isClock
      ? taken(placeIndex(id, 'clock', element, zoneOf(site)), () => 1, { element, isOption: false })
      : [];
    const text = placeIndex(id, isAddress ? 'folded' : 'same', element);
    return [...taken(text, () => 1, { element, isOption: false }), ...clock];
  });
  const chosen = places.limited.flatMap((element) => {
    const limits = optionLimits(optionsNamed(definition, element));
    return taken(placeIndex(id, 'option', element), (value) => limits.get(value) ?? null, { element, isOption: true });
  });
  return [...own, ...unique, ...chosen];
}

/** The options that the element of a name lists. */
export function optionsNamed({ elements }: Pick<Definition, 'elements'>, name: string): readonly ElementOption[] {
  const element = elements.get(name);
  return (element && listedOptions(element)) ?? [];
}

/** The limits of options by their values as texts. */
const optionLimits = (options: readonly { value: unknown; limit?: number }[]): Map<string, number> =>
  new Map(options.flatMap(({ value, limit }) => (limit === undefined ? [] : [[String(value), limit]])));

/** The records of a block that have a place, or wait for one. */
export const statePlace = (block: string, value: 'taken' | 'waiting'): Place => ({
  index: placeIndex(block, 'state'),
  value,
});

const zoneOf = ({ timeZone }: Pick<Site, 'timeZone'>): string => timeZone ?? serverTimeZone();

/** The moment of a time by the site's clock; of one that the clock shows twice, the generous one. */
export const momentOf = ({ clock }: LocalTime, site: Pick<Site, 'timeZone'>, isEnd: boolean): number =>
  momentInZone(clock, zoneOf(site), isEnd ? 'last' : 'first');

/** Whether a block takes records at a time, and until when that stays so; null: for ever. */
export function openAt(
  { opens, closes }: Places,
  site: Pick<Site, 'timeZone'>,
  now: number,
): { state: 'open' | 'not_open' | 'closed'; until: number | null } {
  const begin = opens && momentOf(opens, site, false);
  const end = closes && momentOf(closes, site, true);
  if (begin !== null && now < begin) return { state: 'not_open', until: begin };
  if (end !== null && now >= end) return { state: 'closed', until: null };
  return { state: 'open', until: end };
}

/** Placeholders of the texts `closed` and `full`. */
const PLACEHOLDER = /\{(opens|closes|limit)\}/g;

/**
 * What a visitor reads where a block has no place: the text of its definition, else the service's own. Times are those of the site, in
 * its language.
 */
export function placeText(places: Places, code: PlaceCode, locale: PageLocale): string {
  const { opens, closes, limit, closed, full } = places;
  const values = {
    opens: opens ? readableMoment(opens.shown, locale) : '',
    closes: closes ? readableMoment(closes.shown, locale) : '',
    limit: limit === null ? '' : String(limit),
  };
  const given = { full: full ?? closed, closed, not_open: closed, once: null }[code];
  if (given === null) return locale.say(`place_${code}`, values);
  return given.replace(PLACEHOLDER, (_, name: keyof typeof values) => values[name]);
}

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
