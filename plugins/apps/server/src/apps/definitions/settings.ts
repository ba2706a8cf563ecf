import { z } from 'zod';
import type { Items, Json } from '../../../../shared/json';
import type { Acl, AclRight, JsonUse, JsonUses } from '../../auth/types';
import type { ThemeFile } from '../../sites';
import { isRecipientEntry } from '../mail/addresses';
import type { MailSettings, Settings } from '../types';
import { type Check, check, shownAs } from '../yaml/check';
import { boundedList, describe, flag, isMapping, mapping, named, names, oneOf } from '../yaml/schema';
import { readYaml } from '../yaml/yaml';
import { webhooks } from './webhooks';

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
  source: {},
};

/** Maximum users and groups in all lists of an `acl`: every request compares the requester with each. */
const MAX_NAMES = 10_000;

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
  } = given;
  return {
    ...{ debug, withTheme, visitor, proofOfWork, strict, acl, options, mail, webhooks: declared },
    scheduleAs: roles,
    json: usesOf(uses, strict),
    source: root.value as Items,
  };
}
