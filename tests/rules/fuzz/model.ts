import type { AppName } from './apps';

/** A record as the database has it. */
export interface Stored {
  id: string;
  items: Record<string, unknown>;
  creator: string | null;
  version: number;
}

/** What the items of a record must be, written from the definitions of `apps.ts` and from nothing of the product. */
type Rule = readonly [what: string, holds: (items: Stored['items']) => boolean];

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';
const isText = (value: unknown, max: number): boolean =>
  typeof value === 'string' && value !== '' && [...value].length <= max;
const isSet = (value: unknown, options: readonly string[]): boolean =>
  Array.isArray(value) && new Set(value).size === value.length && value.every((one) => options.includes(one));
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isGuest(value: unknown): boolean {
  if (!isObject(value) || !Object.keys(value).every((name) => name === 'who' || name === 'age')) return false;
  const isAge = isEmpty(value.age) || (typeof value.age === 'number' && value.age >= 0);
  return isText(value.who, Number.POSITIVE_INFINITY) && isAge;
}

const order: readonly Rule[] = [
  ['the name is required, up to 10', ({ name }) => isText(name, 10)],
  ['the code fits its pattern', ({ code }) => isEmpty(code) || /^[A-Z]{2}[0-9]{2}$/.test(String(code))],
  ['the code is a text', ({ code }) => isEmpty(code) || typeof code === 'string'],
  ['the count is 1 to 9', ({ count }) => Number.isInteger(count) && Number(count) >= 1 && Number(count) <= 9],
  ['the size is an option', ({ size }) => isEmpty(size) || ['s', 'm', 'l'].includes(size as string)],
  ['the tags are options', ({ tags }) => isEmpty(tags) || isSet(tags, ['x', 'y', 'z'])],
  ['agree is true or false', ({ agree }) => isEmpty(agree) || typeof agree === 'boolean'],
  ['gift is true or false', ({ gift }) => isEmpty(gift) || typeof gift === 'boolean'],
  ['the text of a gift', ({ gift, text }) => (gift === true ? isText(text, 5) : isEmpty(text))],
  ['from and to are numbers', ({ from, to }) => [from, to].every((one) => isEmpty(one) || typeof one === 'number')],
  ['from is not after to', ({ from, to }) => isEmpty(from) || isEmpty(to) || Number(from) <= Number(to)],
  ['the friend is an id', ({ friend }) => isEmpty(friend) || typeof friend === 'string'],
  [
    'the guests are 2 at most',
    ({ guests }) => isEmpty(guests) || (Array.isArray(guests) && guests.length <= 2 && guests.every(isGuest)),
  ],
  ['the plan is the constant', ({ plan }) => plan === 'basic'],
  ['the total is computed', ({ count, gift, total }) => total === Number(count) * 2 + (gift === true ? 1 : 0)],
];

const note: readonly Rule[] = [
  ['the title is required, up to 5', ({ title }) => isText(title, 5)],
  ['the plan is the constant', ({ plan }) => plan === 'note'],
];

const names: Record<string, readonly string[]> = {
  order: [
    ...['block', 'name', 'code', 'count', 'size', 'tags', 'agree', 'gift', 'text', 'from', 'to', 'friend', 'guests'],
    ...['plan', 'total', 'made', 'saved'],
  ],
  note: ['block', 'title', 'plan', 'made'],
};

/** Names that a client may send to a strict app: inputs, and what is no item. */
const sendable = new Set([
  'id',
  'title',
  ...(names.order ?? []).filter((name) => !['plan', 'total', 'made', 'saved'].includes(name)),
]);

/** Names that a strict app must not take of a client. @param isForm whether it has sent a form, which has buttons and entries */
export const refusedNames = (sent: object, isForm: boolean): string[] =>
  Object.keys({ ...sent, ...Object((sent as { $inc?: object }).$inc) }).filter(
    (name) => !sendable.has(name) && name !== '$inc' && !(isForm && /^(?:_|action\.|guests:|name:)/.test(name)),
  );

const rules: Record<string, readonly Rule[]> = { order, note };

/** The rules that a record breaks, by what its items say alone. */
export function brokenRules(app: AppName, { items }: Stored): string[] {
  const block = items.block ?? null;
  if (block === null) return app === 'free' ? [] : ['a record of a strict app has a block'];
  if (typeof block !== 'string' || !Object.hasOwn(rules, block)) return ['the block exists'];
  const broken = (rules[block] ?? []).filter(([, holds]) => !holds(items)).map(([what]) => what);
  const unknown = Object.keys(items).filter((name) => app !== 'free' && !names[block]?.includes(name));
  return [...broken, ...unknown.map((name) => `"${name}" is an item of the block`)];
}

/** Codes that two records of the block have. */
export function doubleCodes(records: readonly Stored[]): unknown[] {
  const codes = records
    .filter(({ items }) => items.block === 'order' && !isEmpty(items.code))
    .map(({ items }) => items.code);
  return codes.filter((code, at) => codes.indexOf(code) !== at);
}

/** What COMPUTED_ON_CREATION gives for a record that has just come into its block. */
const madeOf = ({ block, count, title }: Stored['items']) => (block === 'order' ? `first:${count}` : `note:${title}`);

/** A change of one record by one request. */
export interface Change {
  app: AppName;
  before: Stored | null;
  after: Stored;
  /** Records before the request. */
  all: readonly Stored[];
  /** Which records the requester may view. */
  sees(record: Stored): boolean;
  /** Whether the requester may change every record, so that in an app that is not strict they may move it between blocks. */
  mayMove: boolean;
}

/** The rules about a change that it breaks. */
export function brokenByChange({ app, before, after, all, sees, mayMove }: Change): string[] {
  const broken: string[] = [];
  const require = (holds: boolean, what: string) => {
    if (!holds) broken.push(what);
  };
  const { items } = after;
  const [from, to] = [before?.items.block ?? null, items.block ?? null];
  require(from === null || from === to || (mayMove && app === 'free'), 'a record keeps its block');
  if (before) require(before.creator === after.creator, 'the creator stays');
  if (to === null) return broken;
  const made = before !== null && from === to ? before.items.made : madeOf(items);
  require(items.made === made, `what is computed on creation is ${JSON.stringify(made)}`);
  if (to !== 'order') return broken;
  if (app !== 'free') require(items.saved === Number(before?.items.saved ?? 0) + 1, 'on_save ran once');
  const { friend } = items;
  const isKept = isEmpty(friend) || friend === before?.items.friend;
  require(isKept ||
    all.some((one) => one.id === friend && sees(one)), 'the friend exists, and is seen by the requester');
  return broken;
}
