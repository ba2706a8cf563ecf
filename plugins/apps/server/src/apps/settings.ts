import type { Items } from '../../../shared/json';
import type { Acl, AclRight } from '../requester/types';
import type { ThemeFile } from '../sites';
import type { Settings } from './types';
import { readYaml } from './yaml';
import { type Check, flag, mapping, named, names } from './yaml-schema';

/** What an app without settings says. */
export const emptySettings: Settings = { debug: false, withTheme: false, acl: null, source: {} };

const rights = mapping({ reader: names, author: names, editor: names, submitter: names } satisfies Record<
  AclRight,
  Check<string[]>
>);

/** Users and groups in all lists of an `acl`, at most: who is asking is compared with each, at every request. */
const MAX_NAMES = 10_000;

const roleNames: Check<string[]> = (at) => (at.value === null ? [] : names(at));

const aclMapping = mapping({ rights, roles: named('a role', roleNames) });

const acl: Check<Acl> = (at) => {
  const { rights: given = {}, roles = new Map<string, string[]>() } = aclMapping(at);
  const { reader = [], author = [], editor = [], submitter = [] } = given;
  const lists = [reader, author, editor, submitter, ...roles.values()];
  const count = lists.reduce((sum, { length }) => sum + length, 0);
  if (count > MAX_NAMES) return at.fail(`The lists hold more than ${MAX_NAMES} names together`);
  return { rights: { reader, author, editor, submitter }, roles: Object.fromEntries(roles) };
};

/** Keys of settings.yaml (contract, sections 6 and 10). */
const schema = mapping({ debug: flag, with_theme: flag, acl });

/** Reads an app's settings.yaml. DefinitionError with file, line and column for anything the contract does not know. */
export function readSettings(file: ThemeFile): Settings {
  const root = readYaml(file);
  if (root.value === null) return emptySettings;
  const { debug = false, with_theme: withTheme = false, acl = null } = schema(root);
  return { debug, withTheme, acl, source: root.value as Items };
}
