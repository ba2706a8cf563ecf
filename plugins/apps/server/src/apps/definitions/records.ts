import { z } from 'zod';
import { type AppsError, definitionError } from '../../common/errors';
import { didYouMean } from '../../common/text';
import { isoMoment } from '../../common/time/moments';
import { elementTypes, listedOptions, roleOf } from '../elements';
import type {
  Block,
  DeclaredState,
  ElementDefinition,
  LocalTime,
  Places,
  Privacy,
  Receipt,
  SelfService,
  States,
  TimeSpan,
} from '../types';
import type { YamlNode } from '../yaml';
import {
  boundedList,
  type Check,
  caption,
  check,
  describe,
  flag,
  mapping,
  named,
  names,
  placesNumber,
  shownAs,
  text,
} from '../yaml-schema';
import { notify } from './automation';

type Unit = TimeSpan['unit'];

/** Milliseconds of each unit; of a month and a year those of a long one. */
const UNITS: Record<Unit, number> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
  month: 31 * 86_400_000,
  year: 366 * 86_400_000,
};

/** A length of time such as `7 days`. @param most years that it may have, at most */
export function timeSpan({ units, example, most }: { units: Unit[]; example: string; most: number }): Check<TimeSpan> {
  const pattern = new RegExp(`^([1-9]\\d{0,4}) (${units.join('|')})s?$`);
  const notTime = (input: unknown) => `This must be a time such as ${example}, not ${describe(input)}`;
  const text = z.string({ error: ({ input }) => notTime(input) });
  return check(
    shownAs(text, () => z.string().regex(pattern)),
    (given, at): TimeSpan => {
      const [, count = '', unit] = pattern.exec(given.trim()) ?? [];
      if (unit === undefined) return at.fail(notTime(given));
      const span = { count: Number(count), unit: unit as Unit };
      if (lengthOf(span) > most * UNITS.year) at.fail(`This is longer than ${most === 10 ? 'ten' : most} years`);
      return span;
    },
  );
}

/** Milliseconds of a span; of months and years at least as many as they have. */
export const lengthOf = ({ count, unit }: TimeSpan): number => count * UNITS[unit];

/** The moment that lies a span before another one, in milliseconds since 1970. Months and years are those of the calendar, in UTC. */
export function timeBefore({ count, unit }: TimeSpan, moment: number): number {
  if (unit !== 'month' && unit !== 'year') return moment - count * UNITS[unit];
  const date = new Date(moment);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() - count * (unit === 'year' ? 12 : 1));
  const days = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  // A month that is shorter ends earlier.
  return date.setUTCDate(Math.min(day, days));
}

/** The longest time for which records are kept, in years. */
const MAX_YEARS = 100;

const keep: Check<TimeSpan> = timeSpan({
  units: ['day', 'week', 'month', 'year'],
  example: '"180 days" or "2 years"',
  most: MAX_YEARS,
});

/** As many as a block has elements. */
const MAX_NAMES = 500;

const notNames = {
  error: ({ input }: { input?: unknown }) =>
    `This must be a list of names of elements, such as [email, name], not ${describe(input)}`,
};

const anonymize = check<string[]>(
  boundedList(
    MAX_NAMES,
    `There are at most ${MAX_NAMES} names`,
    shownAs(z.array(z.string(notNames), notNames).min(1, 'This list is empty'), () => z.array(z.string()).min(1)),
    (one) => typeof one === 'string',
  ),
);

/** Keys of a definition that say how long its records are kept, and what goes then (docs/reference/definitions.md#privacy). */
export const privacyKeys = { keep, anonymize };

type GivenPrivacy = { [K in keyof typeof privacyKeys]?: ReturnType<(typeof privacyKeys)[K]> };

/** Whether the values of an element are items of the block's records. */
const isStored = (element: ElementDefinition): boolean => roleOf(element) === 'input' || element.mode !== undefined;

/** What the keys say together with the block's elements. DefinitionError for a name that is no element whose value is stored. */
export function privacyOf(
  given: GivenPrivacy,
  elements: ReadonlyMap<string, ElementDefinition>,
  root: YamlNode,
): Privacy {
  const stored = [...elements.values()].filter(isStored);
  const persons = stored.filter(({ person }) => person).map(({ name }) => name);
  for (const [index, name] of (given.anonymize ?? []).entries()) {
    if (stored.some((element) => element.name === name)) continue;
    const at = root.child('anonymize').child(index);
    const known = stored.map((element) => element.name);
    at.fail(
      elements.has(name)
        ? `The value of "${name}" is not stored`
        : `There is no element "${name}"${didYouMean(name, known)}`,
    );
  }
  const names = given.anonymize ? [...new Set([...given.anonymize, ...persons])] : null;
  return { keep: given.keep ?? null, anonymize: names };
}

/** The longest time: ten years. */
const until = timeSpan({ units: ['minute', 'hour', 'day', 'week'], example: '"7 days" or "12 hours"', most: 10 });

const uses = ['view', 'edit', 'delete'] as const;

const notUses = ({ input }: { input?: unknown }) =>
  `This must be a list of "view", "edit" and "delete", not ${describe(input)}`;

const allowSchema = boundedList(
  uses.length,
  'The list has at most three entries: "view", "edit" and "delete"',
  shownAs(z.array(z.enum(uses, { error: notUses }), { error: notUses }).min(1, 'This list is empty'), () =>
    z.array(z.enum(uses)).min(1).max(uses.length),
  ),
);

const allow = check<(typeof uses)[number][]>(allowSchema);

const whole = mapping({ allow, until });

/** What the holder of the link to a record may do with it (docs/reference/definitions.md#corrections-by-a-link). */
export const selfService = check(z.union([allowSchema, whole.schema], { error: notUses }), (value, at): SelfService => {
  const given = Array.isArray(value) ? { allow: value, until: undefined } : whole.read(value as never, at);
  if (given.allow === undefined) return at.fail('"self_service" needs "allow", a list of "view", "edit" and "delete"');
  return {
    edit: given.allow.includes('edit'),
    delete: given.allow.includes('delete'),
    until: given.until ? lengthOf(given.until) : null,
  };
});

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

type GivenPlaces = { [K in keyof typeof placesKeys]?: ReturnType<(typeof placesKeys)[K]> };

/** What the keys say together with the block's elements; null without any of them. DefinitionError for keys that contradict each other. */
export function placesOf(
  given: GivenPlaces,
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
function checkText(given: GivenPlaces, key: 'closed' | 'full', root: YamlNode): void {
  for (const [whole, name = ''] of (given[key] ?? '').matchAll(/\{([\w.-]{1,50})\}/g)) {
    if (name !== 'opens' && name !== 'closes' && name !== 'limit')
      root.child(key).fail(`The text has ${whole}: there are {opens}, {closes} and {limit}`);
    else if (given[name] === undefined) root.child(key).fail(`The text has ${whole}, but the block has no "${name}"`);
  }
}

/** The types of elements whose values are addresses. */
const types = [...elementTypes].flatMap(([name, { isAddress }]) => (isAddress ? [name] : [])).join(' or ');

const receiptMapping = mapping({ to: text, subject: text, block: text, confirm: flag });

/** The key `receipt` of a definition (docs/reference/definitions.md#receipts). */
export const receipt: Check<Receipt> = check(receiptMapping.schema, (value, at): Receipt => {
  const { to, subject = null, block = null, confirm = false } = receiptMapping.read(value, at);
  return to === undefined
    ? at.fail(`"receipt" needs a "to", the name of an element of the type ${types}`)
    : { to, subject, block, confirm, position: at.position };
});

/** The receipt of a block, compared with its elements: DefinitionError where none of them has an address. */
export function checkReceipt(
  given: Receipt | undefined,
  elements: ReadonlyMap<string, ElementDefinition>,
  root: YamlNode,
): Receipt | null {
  if (given && !elements.get(given.to)?.kind.isAddress)
    root
      .child('receipt')
      .child('to')
      .fail(`This must be the name of an element of the type ${types}, not "${given.to}"`);
  return given ?? null;
}

/** The DefinitionError of a receipt that shows a block which the app lacks; null if there is none. */
export function receiptProblem(given: Receipt | null, blocks: ReadonlyMap<string, Block>): AppsError | null {
  if (!given || given.block === null || blocks.has(given.block)) return null;
  return definitionError(`receipt: there is no block "${given.block}"`, given.position);
}

/** States of a block. A page of a record has a button for each way out of one. */
export const MAX_STATES = 50;

/** The item that the state of a record is, and its index. */
export const STATE_ITEM = 'state';

const stateMapping = mapping({ to: names, by: names, label: caption, notify });

type GivenState = Omit<DeclaredState, 'name'>;

const state: Check<GivenState> = check(stateMapping.schema.nullable(), (value, at): GivenState => {
  const { to = [], by = null, label = null, notify: mail = null } = value === null ? {} : stateMapping.read(value, at);
  return { to, by, label, notify: mail, position: at.position };
});

const allStates = named('a state', state);

/** The key `states` of a definition (docs/reference/definitions.md#states). */
export const states: Check<States> = check(allStates.schema, (value, at): States => {
  const given = allStates.read(value, at) as Map<string, GivenState>;
  const all = new Map([...given].map(([name, one]): [string, DeclaredState] => [name, { name, ...one }]));
  const [initial] = all.keys();
  if (initial === undefined) return at.fail('"states" needs at least one state: the first is that of a new record');
  if (all.size > MAX_STATES) at.fail(`A block has at most ${MAX_STATES} states, not ${all.size}`);
  for (const { name, to } of all.values())
    for (const [index, target] of to.entries()) {
      const node = at.child(name).child('to').child(index);
      if (!all.has(target)) node.fail(`There is no state "${target}"${didYouMean(target, [...all.keys()])}`);
      if (target === name) node.fail(`A record that is "${name}" already cannot become it`);
    }
  return { initial, all };
});

/** Refuses an element that would be the same item. */
export function checkStates(
  given: States | undefined,
  elements: ReadonlyMap<string, ElementDefinition>,
  root: YamlNode,
): States | null {
  if (given && elements.has(STATE_ITEM))
    root
      .child('elements')
      .key(STATE_ITEM)
      .fail('"states" makes the item "state": an element cannot have that name too');
  return given ?? null;
}

/** The states that no record can come into, because no way leads to them from the first. */
export function unreachableStates({ initial, all }: States): DeclaredState[] {
  const reached = new Set([initial]);
  for (const name of reached) for (const target of all.get(name)?.to ?? []) reached.add(target);
  return [...all.values()].filter(({ name }) => !reached.has(name));
}
