import { z } from 'zod';
import type { Items, Json } from '../../../../shared/json';
import type { Acl, AclRight, JsonUse, JsonUses } from '../../auth/types';
import type { ThemeFile } from '../../sites';
import { translatedElements } from '../elements';
import { cataloguesOf, localeFor } from '../locales';
import { isRecipientEntry } from '../mail';
import type { App, Block, Definition, FormPage, MailSettings, Settings } from '../types';
import { readYaml } from '../yaml';
import {
  boundedList,
  type Check,
  check,
  describe,
  flag,
  isMapping,
  mapping,
  named,
  names,
  oneOf,
  shownAs,
} from '../yaml-schema';
import { webhooks } from './automation';
import { lengthOf, timeSpan } from './records';

/** The longest time: ten years. */
const keepDrafts = timeSpan({ units: ['minute', 'hour', 'day', 'week'], example: '"30 days"', most: 10 });

const lists = { reader: names, author: names, editor: names, submitter: names, owner: names } satisfies Record<
  AclRight,
  Check<string[]>
>;

const rights = mapping(lists);

/** A value for each list of an `acl`. */
const perList = <T>(make: (list: AclRight) => T) =>
  Object.fromEntries((Object.keys(lists) as AclRight[]).map((list) => [list, make(list)])) as Record<AclRight, T>;

const jsonUse = oneOf<JsonUse>('none', 'read', 'write');
const jsonUses = mapping(perList(() => jsonUse));

const json = check(
  z.union([jsonUse.schema, jsonUses.schema]),
  (value, at): Partial<JsonUses> =>
    typeof value === 'string' ? perList(() => value as JsonUse) : jsonUses.read(value, at),
);

/** Who may use the JSON interface; in a strict app submitters use forms, unless `json` says otherwise. */
function usesOf(given: Partial<JsonUses>, strict: boolean): JsonUses {
  return perList((list) => given[list] ?? (strict && list === 'submitter' ? 'none' : 'write'));
}

/** Days for which versions of records are kept, where settings.yaml does not say. */
export const HISTORY_DAYS = 180;

export const MAX_HISTORY_DAYS = 3_650;

const notDays = {
  error: ({ input }: { input?: unknown }) =>
    `This must be a whole number of days from 1 to ${MAX_HISTORY_DAYS}, not ${describe(input)}`,
};

const historyDays = check<number>(z.int(notDays).min(1, notDays).max(MAX_HISTORY_DAYS, notDays));

const DAY = 24 * 60 * 60_000;

/** Milliseconds for which drafts are kept, where settings.yaml does not say. */
const KEEP_DRAFTS = 30 * DAY;

/** The settings of an app without settings.yaml. */
export const emptySettings: Settings = {
  debug: false,
  withTheme: false,
  acl: null,
  options: {},
  visitor: false,
  proofOfWork: false,
  strict: false,
  json: usesOf({}, false),
  mail: null,
  scheduleAs: [],
  webhooks: new Map(),
  history: false,
  historyDays: HISTORY_DAYS,
  keepDrafts: KEEP_DRAFTS,
  source: {},
};

/** Days for which versions of an app's records are kept; null: its settings are broken, and do not say. @param app null: the theme has none */
export function historyDaysOf(app: Pick<App, 'error' | 'settings'> | null): number | null {
  if (!app) return HISTORY_DAYS;
  return app.error ? null : app.settings.historyDays;
}

/** Maximum users and groups in all lists of an `acl`: every request compares the requester with each. */
export const MAX_NAMES = 10_000;

const roleNames = check(names.schema.nullable(), (value) => (value as string[] | null) ?? []);

const aclMapping = mapping({ rights, roles: named('a role', roleNames) });

const acl = check(aclMapping.schema, (value, at): Acl => {
  const { rights: given = {}, roles = new Map<string, string[]>() } = aclMapping.read(value, at);
  const { reader = [], author = [], editor = [], submitter = [], owner = [] } = given;
  const lists = [reader, author, editor, submitter, owner, ...roles.values()];
  const count = lists.reduce((sum, { length }) => sum + length, 0);
  if (count > MAX_NAMES) return at.fail(`The lists hold more than ${MAX_NAMES} names together`);
  return { rights: { reader, author, editor, submitter, owner }, roles: Object.fromEntries(roles) };
});

const anyMapping = z.custom<Items>((value) => isMapping(value as Json), {
  error: ({ input }) => `This must be a mapping of keys to values, not ${describe(input)}`,
});

const options = check(shownAs(anyMapping, () => z.record(z.string(), z.unknown())));

/** Maximum entries of `mail.to`. */
const MAX_RECIPIENTS = 100;

const isEntry = (value: unknown): boolean => typeof value === 'string' && isRecipientEntry(value);

const recipients = check<string[]>(
  boundedList(
    MAX_RECIPIENTS,
    `There are at most ${MAX_RECIPIENTS} addresses`,
    z.array(
      z.custom<string>(isEntry, {
        error: ({ input }) =>
          `This must be a bare address such as "me@example.org", "*@example.org" or "{option}", not ${describe(input)}`,
      }),
      { error: ({ input }) => `This must be a list of addresses, not ${describe(input)}` },
    ),
    isEntry,
  ),
);

const mailMapping = mapping({ to: recipients, to_requester: flag });

const mail = check(mailMapping.schema, (value, at): MailSettings => {
  const { to = [], to_requester: toRequester = false } = mailMapping.read(value, at);
  return { to, toRequester };
});

/** Maximum roles of schedules: each is read from the database when one runs. */
const MAX_ROLES = 20;

const scheduleAs = check(names.schema, (value, at): string[] => {
  const roles = value as string[];
  if (roles.length > MAX_ROLES) at.fail(`There are at most ${MAX_ROLES} roles`);
  for (const [index, role] of roles.entries())
    if (role === '*') at.child(index).fail('This must be the name of a role, not "*"');
  return roles;
});

/** Keys of settings.yaml (docs/reference/theme.md#settingsyaml). */
export const settingsFile = mapping({
  debug: flag,
  with_theme: flag,
  visitor: flag,
  proof_of_work: flag,
  strict: flag,
  json,
  acl,
  options,
  mail,
  schedule_as: scheduleAs,
  webhooks,
  history: flag,
  history_days: historyDays,
  keep_drafts: keepDrafts,
});

/** Reads an app's settings.yaml. DefinitionError with file, line and column for unknown keys and wrong values. */
export function readSettings(file: ThemeFile): Settings {
  const root = readYaml(file);
  if (root.value === null) return emptySettings;
  const given = settingsFile(root);
  const {
    debug = false,
    with_theme: withTheme = false,
    visitor = false,
    proof_of_work: proofOfWork = false,
    strict = false,
    json: uses = {},
    acl = null,
    options = {},
    mail = null,
    schedule_as: roles = [],
    webhooks: declared = new Map(),
    history = false,
    history_days: historyDays = HISTORY_DAYS,
    keep_drafts: drafts,
  } = given;
  return {
    debug,
    withTheme,
    visitor,
    proofOfWork,
    strict,
    acl,
    options,
    mail,
    webhooks: declared,
    history,
    historyDays,
    scheduleAs: roles,
    keepDrafts: drafts ? lengthOf(drafts) : KEEP_DRAFTS,
    json: usesOf(uses, strict),
    source: root.value as Items,
  };
}

/** The message of a key, without its values; null if there is none. */
type Find = (key: string) => string | null;

/**
 * The app with the texts of its definitions in the language of its site, as far as its catalogues have them
 * (docs/reference/languages.md#texts-of-definitions).
 */
export async function translated(app: App): Promise<App> {
  const { site, files, themeFiles } = app.folder;
  if ([files, themeFiles].every((own) => cataloguesOf(own).languages.length === 0)) return app;
  const { written: find } = await localeFor(site, files, themeFiles);
  const blocks = [...app.blocks].map(([id, block]): [string, Block] => {
    const own: Find = (key) => find(`blocks.${id}.${key}`);
    return [id, { ...block, definition: definitionIn(block.definition, own) }];
  });
  return { ...app, blocks: new Map(blocks) };
}

function definitionIn(definition: Definition, find: Find): Definition {
  const page = (one: FormPage, index: number) => ({ ...one, title: find(`pages.${index + 1}`) ?? one.title });
  return {
    ...definition,
    title: find('title') ?? definition.title,
    pages: definition.pages?.map(page) ?? null,
    places: definition.places && {
      ...definition.places,
      closed: find('closed') ?? definition.places.closed,
      full: find('full') ?? definition.places.full,
    },
    receipt: definition.receipt && {
      ...definition.receipt,
      subject: find('receipt.subject') ?? definition.receipt.subject,
    },
    states: definition.states && {
      ...definition.states,
      all: new Map(
        [...definition.states.all].map(([name, one]) => [name, { ...one, label: find(`states.${name}`) ?? one.label }]),
      ),
    },
    elements: translatedElements(definition.elements, find),
    builtIn: translatedElements(definition.builtIn, find),
  };
}
