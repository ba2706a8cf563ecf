import path from 'node:path';
import type { AppsConfig, Limits, SandboxConfig, SiteConfig } from './config.types';
import { isId } from './sites';

/** Reads one value at a path of the configuration; a wrong one is told to `problems`, and the result is not used then. */
type Read<T> = (value: unknown, at: string, problems: string[]) => T;

/** A key's reader, and its value where it is left out; a key without one is required, unless it is optional. */
interface Field<T> {
  read: Read<T>;
  otherwise?: T;
  optional?: true;
}

const show = (value: unknown) => (typeof value === 'object' && value !== null ? 'an object or list' : String(value));

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A reader for values that pass `test`; `wanted` says in words which ones do. */
function value<T>(wanted: string, test: (value: unknown) => value is T): Read<T> {
  return (given, at, problems) => {
    if (!test(given)) problems.push(`'${at}' must be ${wanted}, not ${show(given)}`);
    return given as T;
  };
}

const text = (wanted: string, pattern: RegExp) =>
  value(wanted, (given): given is string => typeof given === 'string' && pattern.test(given));

const wholeNumber = (least: number) =>
  value(
    `a whole number of at least ${least}`,
    (given): given is number => Number.isSafeInteger(given) && (given as number) >= least,
  );

const list =
  <T>(item: Read<T>): Read<T[]> =>
  (given, at, problems) => {
    if (Array.isArray(given)) return given.map((one, place) => item(one, `${at}.${place}`, problems));
    problems.push(`'${at}' must be a list, not ${show(given)}`);
    return [];
  };

/** A mapping with any keys, all values alike. */
const mapping =
  <T>(item: Read<T>): Read<Record<string, T>> =>
  (given, at, problems) => {
    if (isPlainObject(given)) {
      return Object.fromEntries(Object.entries(given).map(([key, one]) => [key, item(one, `${at}.${key}`, problems)]));
    }
    problems.push(`'${at}' must be an object, not ${show(given)}`);
    return {};
  };

/** A mapping with the given keys and no others. */
const object =
  <T extends object>(fields: { [K in keyof T]-?: Field<Exclude<T[K], undefined>> }): Read<T> =>
  (given, at, problems) => {
    const result: Partial<T> = {};
    if (!isPlainObject(given)) {
      problems.push(`'${at || 'apps'}' must be an object, not ${show(given)}`);
      return result as T;
    }
    const path = (key: string) => (at ? `${at}.${key}` : key);
    for (const key of Object.keys(given)) {
      if (!Object.hasOwn(fields, key)) {
        problems.push(`unknown key '${path(key)}' (known here: ${Object.keys(fields).join(', ')})`);
      }
    }
    for (const key of Object.keys(fields) as (keyof T & string)[]) {
      const { read, otherwise, optional } = fields[key];
      if (given[key] !== undefined) result[key] = read(given[key], path(key), problems);
      else if (otherwise !== undefined) result[key] = otherwise;
      else if (!optional) problems.push(`'${path(key)}' is missing`);
    }
    return result as T;
  };

/** Contract, section 1: ids of sites, themes and apps. */
const id = value(
  "an id (letters, digits, '_', '-' and single dots)",
  (given): given is string => typeof given === 'string' && isId(given),
);

/** As a browser sends it: no path, no default port. */
const origin = value(
  "an origin like 'https://app.example.com'",
  (given): given is string => typeof given === 'string' && URL.canParse(given) && new URL(given).origin === given,
);

const site = object<SiteConfig>({
  id: { read: id },
  title: { read: text('a text', /\S/) },
  theme: { read: id },
  locale: { read: text("a locale like 'fr' or 'fr-CA'", /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/), optional: true },
});

const sites: Read<SiteConfig[]> = (given, at, problems) => {
  const result = list(site)(given, at, problems);
  const ids = result.map((one) => one.id);
  if (Array.isArray(given) && given.length === 0) problems.push(`'${at}' must name at least one site`);
  const twice = ids.find((one, place) => one !== undefined && ids.indexOf(one) !== place);
  if (twice) problems.push(`'${at}' names the site '${twice}' twice`);
  return result;
};

const limit = (otherwise: number, least = 1): Field<number> => ({ read: wholeNumber(least), otherwise });

/** Contract, section 8. */
const limits: { [K in keyof Limits]: Field<number> } = {
  logicTime: limit(2000),
  logicMemory: limit(64, 8),
  hostCalls: limit(1000),
  contentChanges: limit(50),
  resultSize: limit(1024 * 1024),
  logEntries: limit(100, 0),
  logEntrySize: limit(10 * 1024),
  bodySize: limit(1024 * 1024),
  attempts: limit(10),
  searchTime: limit(2000, 10),
  searches: limit(4),
  runners: limit(1),
  isolates: limit(12),
};

const day = 24 * 60 * 60 * 1000;

/** A field that is filled from the defaults of its own keys when it is left out. */
const group = <T extends object>(fields: { [K in keyof T]-?: Field<Exclude<T[K], undefined>> }): Field<T> => ({
  read: object<T>(fields),
  otherwise: object<T>(fields)({}, '', []),
});

/** Contract, section 12. */
const configuration = object<AppsConfig>({
  themesDirectory: { read: text('a path', /\S/), otherwise: './themes' },
  appsFolder: { read: id, otherwise: 'apps' },
  sites: { read: sites, otherwise: [{ id: 'site', title: 'Site', theme: 'default' }] },
  content: {
    read: mapping(object<{ path: string }>({ path: { read: text("an address that starts with '/'", /^\/\S*$/) } })),
    otherwise: {},
  },
  limits: group(limits),
  sandbox: group<SandboxConfig>({ command: { read: list(text('a text', /^[^\0]+$/)), otherwise: [] } }),
  csrf: group({ maxAge: limit(day) }),
  redirectHosts: {
    read: list(text("a host or 'host:port'", /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/)),
    otherwise: [],
  },
  trustedOrigins: { read: list(origin), otherwise: [] },
  temporaryDirectory: { read: text('a path', /\S/), otherwise: './.tmp/apps' },
});

/**
 * The plugin's configuration (contract, section 12) with every default filled in; paths are relative to `appRoot`.
 * Throws an Error that names every unknown key and every wrong value; it is meant to stop the start.
 */
export function readConfig(raw: unknown, { appRoot }: { appRoot: string }): AppsConfig {
  const problems: string[] = [];
  const config = configuration(raw ?? {}, '', problems);
  if (problems.length > 0) throw new Error(`Configuration of the plugin 'apps': ${problems.join('; ')}.`);
  return {
    ...config,
    themesDirectory: path.resolve(appRoot, config.themesDirectory),
    temporaryDirectory: path.resolve(appRoot, config.temporaryDirectory),
  };
}

/** The configuration as Strapi wants a plugin to export it: checked while the server starts. */
export const strapiConfig = {
  default: {},
  validator(raw: unknown): void {
    readConfig(raw, { appRoot: '.' });
  },
};
