import { z } from 'zod';
import { isoMoment } from '../../common/values/moments';
import { listedOptions } from '../elements';
import type { ElementDefinition, LocalTime, Places } from '../types';
import { type Check, check } from '../yaml/check';
import { caption, describe, flag, placesNumber } from '../yaml/schema';
import type { YamlNode } from '../yaml/yaml';

const DAY = 86_400_000;

/** Options with a limit: a page of the block counts the records of each. */
const MAX_LIMITED = 100;

const notTime = (input: unknown) =>
  `This must be a date such as 2026-12-01, or a date and time such as "2026-12-01 09:30", not ${describe(input)}`;

const localTime = z.string({ error: ({ input }) => notTime(input) });

/** A moment by the site's clock. A closing day is open until its end. */
const moment = (isEnd: boolean): Check<LocalTime> =>
  check(localTime, (given, at): LocalTime => {
    const iso = given.trim().replace(/^(\S+) +(?=\d)/, '$1T');
    const found = isoMoment(iso);
    if (!found) return at.fail(notTime(given));
    if (found.kind === 'instant')
      return at.fail("This is a time by the site's clock: leave out the time zone at its end");
    return { shown: iso, clock: found.time + (isEnd && found.kind === 'day' ? DAY : 0) };
  });

/** Keys of a definition that say when and how many records may be made (docs/reference/definitions.md#when-and-how-many). */
export const placesKeys = {
  opens: moment(false),
  closes: moment(true),
  limit: placesNumber,
  limit_per_requester: placesNumber,
  waiting_list: flag,
  closed: caption,
  full: caption,
};

type Given = { [K in keyof typeof placesKeys]?: ReturnType<(typeof placesKeys)[K]> };

/** What the keys say together with the block's elements; null without any of them. DefinitionError for keys that contradict each other. */
export function placesOf(
  given: Given,
  elements: ReadonlyMap<string, ElementDefinition>,
  root: YamlNode,
): Places | null {
  const { opens = null, closes = null, limit = null, limit_per_requester: perRequester = null } = given;
  const { waiting_list: waitingList = false, closed = null, full = null } = given;
  const all = [...elements.values()];
  const namesOf = (elements: readonly ElementDefinition[]) => elements.map(({ name }) => name);
  const unique = namesOf(all.filter((element) => element.unique));
  const limited = namesOf(
    all.filter((element) => listedOptions(element)?.some((option) => option.limit !== undefined)),
  );
  if (opens && closes && closes.clock <= opens.clock)
    root.child('closes').fail('This is not after "opens": the block would never be open');
  if (waitingList && limit === null) root.key('waiting_list').fail('A waiting list needs a "limit" of the block');
  const options = all.flatMap((one) => (listedOptions(one) ?? []).filter((option) => option.limit !== undefined));
  if (options.length > MAX_LIMITED)
    root.child('elements').fail(`At most ${MAX_LIMITED} options of a block have a limit, not ${options.length}`);
  const ends = [limit, perRequester].some((one) => one !== null) || limited.length > 0;
  if (full !== null && !ends) root.key('full').fail('The block is never full: it needs a "limit"');
  if (closed !== null && !opens && !closes && !ends)
    root.key('closed').fail('The block is never closed: it needs "opens", "closes" or a "limit"');
  for (const key of ['closed', 'full'] as const) checkText(given, key, root);
  const hasRules = opens || closes || ends || unique.length > 0;
  return hasRules ? { opens, closes, limit, perRequester, waitingList, closed, full, unique, limited } : null;
}

/** Refuses a placeholder in a text that nothing fills in. */
function checkText(given: Given, key: 'closed' | 'full', root: YamlNode): void {
  for (const [whole, name = ''] of (given[key] ?? '').matchAll(/\{([\w.-]{1,50})\}/g)) {
    if (name !== 'opens' && name !== 'closes' && name !== 'limit')
      root.child(key).fail(`The text has ${whole}: there are {opens}, {closes} and {limit}`);
    else if (given[name] === undefined) root.child(key).fail(`The text has ${whole}, but the block has no "${name}"`);
  }
}
