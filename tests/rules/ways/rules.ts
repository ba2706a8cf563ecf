import { senders, type WayName, ways } from '../../../plugins/apps/server/src/apps/blocks/saving/checked-items';
import type { Items } from '../../../plugins/apps/shared/json';
import type { Person } from '../../support/stage';
import type { AppName } from './apps';
import { usual } from './send';

/** What becomes of what is sent. */
export type Expected =
  /** It is refused with this status, and nothing is stored. */
  | { refused: number; path?: string; has?: string }
  /** It is stored; items have these values then, null for none. */
  | { stored: Items }
  /** By this way it cannot be sent, and why. */
  | { absent: string };

/** A rule of an author, and what is sent against it. */
export interface Rule {
  title: string;
  /** Items that break it, over right ones. */
  items?: Items;
  /** The same in a form, where texts of the items are not it. */
  fields?: Record<string, string>;
  block?: string;
  /** What the record that is changed has besides, stored under other rules. */
  before?: Items;
  /** Who sends; the usual requester of the way without it. */
  as?: (way: WayName) => Person;
  /** Who has made the record that is changed. */
  owner?: Person;
  /** `strict` and `free` without it. */
  apps?: readonly AppName[];
  expected(way: WayName, app: AppName): Expected;
}

/** Items of a record that breaks no rule, with what the server adds to them. */
export const right: Items = {
  block: 'entry',
  title: 'Right',
  code: 'AB',
  age: 42,
  colour: 'red',
  target: 'known',
  party: false,
};
export const ofServer: Items = { stamp: 'stamp of Right', origin: 'made here', state: 'new' };

/** A file in the media library that no app has put there. */
export const foreignFile: Items = {
  id: 1,
  documentId: 'foreign',
  name: 'a.pdf',
  url: '/uploads/a.pdf',
  mime: 'application/pdf',
  size: 1000,
};

/** One that a form of each app has put there. */
export const ownFile: Items = { ...foreignFile, documentId: 'own' };

const isStrict = (app: AppName) => app === 'strict' || app === 'proved';
const isOfPanel = (way: WayName) => way.startsWith('panel');
const isOfLogic = (way: WayName) => ways[way].sender === 'logic';
const isOfForm = (way: WayName) => ways[way].sender === 'form';
const isOfLink = (way: WayName) => ways[way].right === 'link';
const isJsonForm = (way: WayName) => ways[way].sender === 'jsonForm';
const isChange = (way: WayName) => ways[way].right === 'edit' || isOfLink(way);
/** Sent by the author of the app or the operator of the host, whom rights do not limit. */
const isTrusted = (way: WayName) => ways[way].right === null;

const fine: Expected = { stored: {} };

/** A wrong value: 422 by every way but those that take it. */
const wrong = (
  title: string,
  items: Items,
  options: Partial<Rule> & { takes?: (way: WayName) => boolean } = {},
): Rule => {
  const { takes = () => false, ...rest } = options;
  const [path = ''] = Object.keys(items).slice(-1);
  return { title, items, expected: (way) => (takes(way) ? fine : { refused: 422, path }), ...rest };
};

/** An item that is not the client's to send: what becomes of it says the sender of the way. */
const notSent = (title: string, name: string, kept: string | null, byLogic: string): Rule => ({
  title,
  items: { [name]: 'forged' },
  expected(way, app) {
    const { others } = senders[ways[way].sender];
    if (others === 'refused' && isStrict(app)) return { refused: 422, path: name };
    // Without `strict` the JSON interface takes free items.
    const isFree = kept === null && ways[way].sender === 'client';
    return { stored: { [name]: isFree ? 'forged' : others === 'taken' ? byLogic : kept } };
  },
});

const values: Rule[] = [
  wrong('types', { age: { years: 42 } }, { fields: { age: 'many' } }),
  wrong('required', { title: '' }),
  wrong('pattern', { code: 'x1' }),
  wrong('bounds', { age: 17 }),
  wrong('choice', { colour: 'blue' }),
  wrong('a reference to a record that is missing', { target: 'gone' }),
  // Administrators of records and the operator see the records of all apps.
  wrong(
    'a reference to a record that the requester may not see',
    { private: 'hidden' },
    { takes: (way) => isOfPanel(way) || way === 'commandImport' },
  ),
  wrong('show_if: a field that is shown and required', { party: true, guests: null }),
  {
    title: 'show_if: a field that is not shown',
    items: { party: false, guests: 5 },
    expected: () => ({ stored: { guests: null } }),
  },
  wrong('show_if: a field that depends on one which the server sets', { remark: 'X1' }),
  {
    title: 'show_if: a field that depends on one which had several values',
    before: { kind: ['company'], vat: 'X1' },
    fields: { kind: 'company', vat: 'X1' },
    expected: (way) =>
      isChange(way) ? { stored: { kind: ['company'], vat: 'X1' } } : { absent: 'no record is changed' },
  },
  {
    title: 'files',
    items: { paper: foreignFile },
    expected(way) {
      // The form of a draft names files of the draft, and no others.
      if (way === 'draftForm') return { refused: 422, path: 'paper' };
      // Another form keeps files of its record only.
      if (isOfForm(way)) return { stored: { paper: null } };
      return isOfLogic(way) ? { stored: { paper: foreignFile } } : { refused: 422, path: 'paper' };
    },
  },
  {
    title: 'a file of the app',
    items: { paper: ownFile },
    expected(way) {
      if (isOfForm(way)) return { absent: 'a form sends a file' };
      // The holder of a link sees this record alone: the file could be one of another.
      return isOfLink(way) ? { refused: 422, path: 'paper' } : { stored: { paper: { documentId: 'own' } } };
    },
  },
  wrong('own validation', { title: 'Refused AB' }),
];

const serverItems: Rule[] = [
  notSent('computed on save', 'stamp', 'stamp of Right', 'stamp of Right'),
  notSent('computed on creation', 'origin', 'made here', 'made here'),
  notSent('readonly', 'state', 'new', 'forged'),
  notSent('an item that the block does not declare', 'extra', null, 'forged'),
];

/** What a form says about its block is its address. */
const addressed: Expected = { absent: 'the address names the block' };

const blockRules: Rule[] = [
  {
    title: 'block: missing',
    items: { block: null },
    expected(way, app) {
      if (isOfForm(way) || isJsonForm(way)) return addressed;
      if (isChange(way)) return { absent: 'a change of the block' };
      return isStrict(app) && !isOfLogic(way) ? { refused: 422, path: 'block' } : { stored: { block: null } };
    },
  },
  {
    title: 'block: unknown',
    items: { block: 'nowhere' },
    expected(way, app) {
      if (isOfForm(way)) return addressed;
      if (isJsonForm(way)) return isStrict(app) ? { refused: 422, path: 'block' } : { stored: { block: 'entry' } };
      // A mistake of the logic, whose message is not for visitors.
      return isOfLogic(way) ? { refused: 500 } : { refused: 400, has: 'nowhere' };
    },
  },
  {
    title: 'block: changed',
    items: { block: 'other' },
    expected(way, app) {
      if (!isChange(way)) return { absent: 'no record is changed' };
      if (isOfForm(way)) return addressed;
      // The form of a link stays that of the record's block.
      const block = isOfLink(way) ? 'entry' : 'other';
      return isStrict(app) ? { refused: 422, path: 'block' } : { stored: { block } };
    },
  },
  {
    title: 'block: taken out of it by its author',
    items: { block: null },
    as: () => 'anna',
    owner: 'anna',
    expected(way, app) {
      if (!isChange(way)) return { absent: 'no record is changed' };
      if (isOfForm(way)) return addressed;
      if (isOfPanel(way)) return { absent: 'authors are not in the panel' };
      if (isOfLink(way)) return { absent: 'the holder of a link may not take it out' };
      return isStrict(app) ? { refused: 422, path: 'block' } : { refused: 403 };
    },
  },
];

/** The state that a sender wants: a form has no field of it. @param refused of other ways but those that may do it */
const stateRule = (title: string, state: string, refused: (way: WayName) => number | null): Rule => ({
  title,
  block: 'staged',
  items: { block: 'staged', state },
  expected(way, app) {
    if (isOfForm(way)) return { stored: { state: 'new' } };
    if (isJsonForm(way)) return isStrict(app) ? { refused: 422, path: 'state' } : { stored: { state: 'new' } };
    const status = refused(way);
    return status === null ? { stored: { state } } : { refused: status };
  },
});

/** A restore of what was exported. */
const isImport = (way: WayName) => way === 'panelImport' || way === 'commandImport';

const stateRules: Rule[] = [
  stateRule('states: no such way', 'nowhere', () => 409),
  stateRule('states: a way of others', 'done', (way) => {
    if (isImport(way) || isOfLogic(way) || way === 'panelUpdate') return null;
    return isChange(way) ? 403 : 409;
  }),
];

const requesters: Rule[] = [
  {
    title: 'view_permission',
    block: 'closed',
    items: { block: 'closed' },
    expected(way) {
      if (way === 'draftForm' || way === 'draftJson') return { absent: 'there is no draft of it' };
      return way === 'commandImport' || isOfLink(way) ? fine : { refused: 403 };
    },
  },
  {
    title: 'acl: who only reads',
    as: (way) => (isOfPanel(way) ? 'overseer' : 'rita'),
    expected: (way) => (isTrusted(way) || isOfLink(way) ? fine : { refused: 403 }),
  },
  {
    title: 'acl: who only creates',
    as: () => 'sam',
    expected(way, app) {
      if (isOfPanel(way)) return { absent: 'users are not in the panel' };
      if (isTrusted(way) || isOfLink(way)) return fine;
      return isChange(way) || (isStrict(app) && ways[way].json) ? { refused: 403 } : fine;
    },
  },
  {
    title: 'owner: a record of somebody else, for authors',
    as: () => 'anna',
    owner: 'abel',
    expected: (way) => ofOthers(way, 403),
  },
  {
    title: 'owner: a record of somebody else, for owners',
    as: () => 'una',
    owner: 'abel',
    expected: (way) => ofOthers(way, 404),
  },
  {
    title: 'json: none',
    apps: ['shut'],
    expected: (way) => (ways[way].json ? { refused: 403, has: '"json"' } : fine),
  },
];

function ofOthers(way: WayName, status: number): Expected {
  if (!isChange(way)) return { absent: 'no record is changed' };
  if (isOfLink(way)) return fine;
  return isOfPanel(way) ? { absent: 'users are not in the panel' } : { refused: status };
}

/** What anonymous may send at all, where the guard of public forms does not refuse it. */
function byAnonymous(way: WayName, app: AppName): Expected {
  if (isOfPanel(way) || isChange(way)) return { absent: 'anonymous is not let in' };
  if (isTrusted(way)) return { absent: 'the guard is of forms that a visitor sends' };
  return isStrict(app) && ways[way].json ? { refused: 403, has: '"json"' } : fine;
}

const guards: Rule[] = [
  {
    title: 'guard: the hidden field',
    as: () => 'anonymous',
    items: { _website: 'http://spam' },
    expected(way, app) {
      if (ways[way].sender !== 'client') return guarded(way, app, false);
      return { absent: 'the form has this field' };
    },
  },
  {
    title: 'guard: proof of work',
    as: () => 'anonymous',
    apps: ['proved', 'proved-free'],
    expected: (way, app) => guarded(way, app, isStrict(app)),
  },
];

function guarded(way: WayName, app: AppName, ofJson: boolean): Expected {
  const { guard } = senders[ways[way].sender];
  const allowed = byAnonymous(way, app);
  if ('absent' in allowed || guard === 'never') return allowed;
  return guard === 'always' || ofJson ? { refused: 422, path: '' } : fine;
}

export const rules: readonly Rule[] = [
  ...values,
  ...serverItems,
  ...blockRules,
  ...stateRules,
  ...requesters,
  ...guards,
];

/** The requester of a cell. */
export const requesterOf = ({ as }: Rule, way: WayName): Person => (as ?? usual)(way);
