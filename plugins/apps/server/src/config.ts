import path from 'node:path';
import { z } from 'zod';
import { isTimeZone } from './common/time/cron';
import { keysOf, type ValidationProblem, validate, type Wrong } from './common/validation';
import type { AppsConfig, FetchConfig, Limits } from './config.types';
import { readHost } from './outbound';
import { idPattern } from './sites';

const show = (value: unknown) => (typeof value === 'object' && value !== null ? 'an object or list' : String(value));

/** The message for a value that is not `wanted`. */
const must = (wanted: string) => ({
  error: ({ input }: Wrong) => (input === undefined ? 'is missing' : `must be ${wanted}, not ${show(input)}`),
});

const text = (wanted: string, pattern: RegExp) => z.string(must(wanted)).regex(pattern, must(wanted));

const list = <T extends z.ZodType>(item: T) => z.array(item, must('a list'));

/** A mapping with the given keys and no others. */
const object = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => keysOf(shape, must('an object').error);

/** Ids of sites, themes and apps (docs/reference/terms.md#ids). */
const id = text("an id (letters, digits, '_', '-' and single dots)", idPattern);

const ORIGIN = "an origin like 'https://app.example.com'";

/** An origin as a browser sends it: no path, no default port. */
const origin = z
  .string(must(ORIGIN))
  .refine((given) => URL.canParse(given) && new URL(given).origin === given, must(ORIGIN));

const TIME_ZONE = "a time zone like 'Europe/Paris'";

/** The addresses of a server process itself are below it. */
const RESERVED_SITE = '_apps';

const site = object({
  id: id.refine((given) => given !== RESERVED_SITE, must(`another id than '${RESERVED_SITE}'`)),
  title: text('a text', /\S/),
  theme: id,
  locale: text("a locale like 'fr' or 'fr-CA'", /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/).optional(),
  timeZone: z.string(must(TIME_ZONE)).refine(isTimeZone, must(TIME_ZONE)).optional(),
});

const sites = list(site).superRefine((given, context) => {
  const ids = given.map((one) => one.id);
  const twice = ids.find((one, at) => ids.indexOf(one) !== at);
  if (given.length === 0) context.addIssue('must name at least one site');
  if (twice !== undefined) context.addIssue(`names the site '${twice}' twice`);
});

function limit(defaultValue: number, min = 1, max = Number.MAX_SAFE_INTEGER) {
  const wanted = must(`a whole number of at least ${min}${max < Number.MAX_SAFE_INTEGER ? ` and at most ${max}` : ''}`);
  return z.int(wanted).min(min, wanted).max(max, wanted).default(defaultValue);
}

/** Runs in the memory of a process, and in the database. */
const MAX_KEPT_RUNS = 10_000;
const MAX_STORED_RUNS = 1_000_000;

/** Jobs that a process does at once, and tries after the first. */
const MAX_WORKERS = 64;
const MAX_RETRIES = 100;
/** Seconds of a lease. */
const MAX_LEASE = 3_600;

function upTo(defaultValue: number, max: number) {
  const wanted = must(`a whole number from 0 to ${max}`);
  return z.int(wanted).min(0, wanted).max(max, wanted).default(defaultValue);
}

/** Defaults of docs/limits.md. */
const limits = object({
  logicTime: limit(2000),
  logicMemory: limit(64, 8),
  hostCalls: limit(1000),
  hostTime: limit(1000),
  contentChanges: limit(50),
  resultSize: limit(1024 * 1024),
  logEntries: limit(100, 0),
  logEntrySize: limit(10 * 1024),
  bodySize: limit(1024 * 1024),
  uploadSize: limit(600 * 1024 * 1024),
  keptSize: limit(1024 * 1024 * 1024, 4 * 1024 * 1024),
  submittedRecords: limit(1000),
  imagePixels: limit(50_000_000),
  mails: limit(100, 0),
  jobs: limit(10_000, 0),
  drafts: limit(10_000, 0),
  draftsOfSender: limit(100, 0),
  draftSize: limit(2 * 1024 * 1024 * 1024),
  formPosts: limit(200, 0),
  formTime: limit(1000, 0),
  attempts: limit(10),
  searchTime: limit(2000, 10),
  searches: limit(4),
  runners: limit(1),
  isolates: limit(12),
} satisfies Record<keyof Limits, unknown>);

const hasPort = (entry: string): boolean => /:\d+$/.test(entry);

/** A host of the configuration. */
const hostText = (wanted: string, isWanted: (entry: string) => boolean = () => true) =>
  z.string(must(wanted)).refine((entry) => readHost(entry) !== null && isWanted(entry), must(wanted));

const HOST = "a host like 'api.example.org', or 'host:port', without wildcards";

/** A host as outbound/ compares it. @param needsPort without one it would be 443 */
const host = (needsPort: boolean) =>
  (needsPort ? hostText("'host:port'", hasPort) : hostText(HOST)).transform((entry) => readHost(entry) as string);

/** Hosts of redirects, compared in the same way: without a port, those of https and of http. */
const redirectHosts = list(hostText(HOST)).transform((entries) =>
  entries
    .flatMap((entry) => (hasPort(entry) ? [entry] : [entry, `${entry}:80`]))
    .map((entry) => readHost(entry) as string),
);

const MIN_SECRET = 8;

const SECRET = `must be a text of at least ${MIN_SECRET} characters, all of them printable ASCII`;

/** The message never shows the value. A variable of the environment that is not set gives undefined, or ''. */
const secretValue = z
  .custom<string | null | undefined>((value) => (value ?? '') === '' || isSecret(value), SECRET)
  .transform((value) => value ?? '');

const isSecret = (value: unknown) =>
  typeof value === 'string' && value.length >= MIN_SECRET && value.length <= 8000 && /^[\x20-\x7e]+$/.test(value);

/** Characters of a token that cannot be guessed. */
const MIN_TOKEN = 24;

const TOKEN = `must be a text of at least ${MIN_TOKEN} characters, all of them printable ASCII without spaces`;

/** As a variable of the environment gives it: not set is undefined or ''. The message never shows the value. */
const token = secretValue
  .refine((value) => value === '' || (value.length >= MIN_TOKEN && !value.includes(' ')), TOKEN)
  .default('');

const REDIS_URL = "must be an address that starts with 'redis://' or 'rediss://'";

/** As a variable of the environment gives it, as above: it may have a password. */
const redisUrl = z
  .custom<string | null | undefined>(
    (value) => (value ?? '') === '' || /^rediss?:\/\/\S+$/.test(String(value)),
    REDIS_URL,
  )
  .transform((value) => value ?? '')
  .default('');

const SECRET_NAME = "a name of letters, digits, '_' and '-'";

const fetchKeys = object({
  hosts: z
    .record(
      z.string().refine((key) => key === '*' || idPattern.test(key), must("the id of an app, or '*' for all")),
      list(host(false)),
      must('an object'),
    )
    .default({}),
  private: list(host(true)).default([]),
  secrets: z
    .record(
      z.string().regex(/^[A-Za-z0-9_-]{1,100}$/, must(SECRET_NAME)),
      keysOf({ value: secretValue, hosts: list(host(false)) }, () => 'must be an object'),
      must('an object'),
    )
    .default({}),
  timeout: limit(5000),
  size: limit(1_000_000),
} satisfies Record<keyof FetchConfig, unknown>);

const anyKeys = () => z.record(z.string(), z.unknown(), { error: () => 'must be an object' }).default({});

/** The keys of Strapi's upload plugin, and `readOnly`. Messages never show what is in them: there are secrets. */
const filesProvider = keysOf(
  {
    provider: text("a name like 'aws-s3'", /\S/),
    providerOptions: anyKeys(),
    actionOptions: anyKeys(),
    readOnly: z.boolean(must('true or false')).default(false),
  },
  () => 'must be an object',
);

const day = 24 * 60 * 60 * 1000;

/** docs/reference/configuration.md A group that is left out is filled from the defaults of its own keys. */
const configuration: z.ZodType<AppsConfig> = object({
  themesDirectory: text('a path', /\S/).default('./themes'),
  appsFolder: id.default('apps'),
  sites: sites.default([{ id: 'site', title: 'Site', theme: 'default' }]),
  content: z
    .record(z.string(), object({ path: text("an address that starts with '/'", /^\/\S*$/) }), must('an object'))
    .default({}),
  limits: limits.prefault({}),
  sandbox: object({
    command: list(text('a text', /^[^\0]+$/)).default([]),
    reuse: z.boolean(must('true or false')).default(true),
  }).prefault({}),
  runs: object({
    keep: upTo(200, MAX_KEPT_RUNS),
    store: upTo(0, MAX_STORED_RUNS),
    persons: z.boolean(must('true or false')).default(false),
  }).prefault({}),
  jobs: object({
    workers: upTo(2, MAX_WORKERS),
    retries: upTo(8, MAX_RETRIES),
    backoff: limit(5),
    lease: limit(30, 2, MAX_LEASE),
    keep: limit(14),
  }).prefault({}),
  editing: z.boolean(must('true or false')).nullable().default(null),
  archiveTests: z.boolean(must('true or false')).nullable().default(null),
  exactCache: z.boolean(must('true or false')).default(true),
  singleProcess: z.boolean(must('true or false')).default(false),
  directConnection: text("an address that starts with 'postgres://'", /^postgres(?:ql)?:\/\/\S+$/)
    .nullable()
    .default(null),
  receipts: object({ perAddress: limit(5, 0), perNetwork: limit(30, 0) }).prefault({}),
  csrf: object({ maxAge: limit(day) }).prefault({}),
  redirectHosts: redirectHosts.default([]),
  trustedOrigins: list(origin).default([]),
  temporaryDirectory: text('a path', /\S/).default('./.tmp/apps'),
  filesDirectory: text('a path', /\S/).nullable().default(null),
  filesProvider: filesProvider.nullable().default(null),
  fetch: fetchKeys.prefault({}),
  metrics: keysOf({ token }, () => 'must be an object').prefault({}),
  redis: keysOf({ url: redisUrl }, () => 'must be an object').prefault({}),
  log: object({ format: z.enum(['text', 'json'], must("'text' or 'json'")).default('text') }).prefault({}),
} satisfies Record<keyof AppsConfig, unknown>);

function sentence({ path: keys, wrong, message }: ValidationProblem): string {
  const at = keys.join('.') || 'apps';
  return wrong === 'unknown key' ? `unknown key '${at}' (known here: ${message})` : `'${at}' ${message}`;
}

/**
 * The plugin's configuration (docs/reference/configuration.md) with every default filled in; paths are relative to
 * `appRoot`. The environment variable `APPS_THEMES_DIRECTORY` overrides `themesDirectory`. Throws an Error that names every unknown key and every wrong value; the caller lets it stop the start.
 */
export function readConfig(raw: unknown, { appRoot }: { appRoot: string }): AppsConfig {
  const { value: config, problems } = validate(configuration, raw ?? {});
  if (problems) throw new Error(`Configuration of the plugin 'apps': ${problems.map(sentence).join('; ')}.`);
  return {
    ...config,
    // An empty variable is one that is not set.
    themesDirectory: path.resolve(appRoot, process.env.APPS_THEMES_DIRECTORY || config.themesDirectory),
    temporaryDirectory: path.resolve(appRoot, config.temporaryDirectory),
    filesDirectory: config.filesDirectory === null ? null : path.resolve(appRoot, config.filesDirectory),
  };
}

/** The configuration as Strapi wants a plugin to export it: checked while the server starts. */
export const strapiConfig = {
  default: {},
  validator(raw: unknown): void {
    readConfig(raw, { appRoot: '.' });
  },
};
