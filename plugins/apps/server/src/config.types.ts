/** The plugin's configuration after validation, every default filled in (docs/reference/configuration.md). */
export interface AppsConfig {
  /** Absolute path of the folder that holds the themes. */
  themesDirectory: string;
  /** Name of the app root folder inside a theme. */
  appsFolder: string;
  /** At least one; the first is the default site. */
  sites: SiteConfig[];
  /** Address patterns by content type uid, e.g. `{ 'api::article.article': { path: '/articles/:slug' } }`. */
  content: Record<string, { path: string }>;
  limits: Limits;
  sandbox: SandboxConfig & {
    /** Whether the sessions of a program may share a context (docs/decisions/reused-contexts.md). */
    reuse: boolean;
  };
  /**
   * The latest runs of logic, shown in the admin panel: how many each process keeps in memory, and how many the database; whether they,
   * and the log, show the e-mail addresses of persons.
   */
  runs: { keep: number; store: number; persons: boolean };
  jobs: JobsConfig;
  /** Whether the admin panel may change files of apps; null: not in production. */
  editing: boolean | null;
  /** Whether the admin panel may run the tests of an app or theme from a ZIP; null: in development only. */
  archiveTests: boolean | null;
  /** Whether a rendering is kept and served again until something changes that it depends on. */
  exactCache: boolean;
  /** Whether this is the only process on the database; kept renderings then ask it each second, not for each request. */
  singleProcess: boolean;
  /** Address of the PostgreSQL server behind a pooler, for what needs a session of its own; null: as Strapi's connection. */
  directConnection: string | null;
  /** Mails to addresses that visitors have entered, an hour, of all sites; 0: any number. */
  receipts: { /** To one address. */ perAddress: number /** From one network. */; perNetwork: number };
  csrf: { /** Age limit of a token in milliseconds. */ maxAge: number };
  /** Hosts outside the site that logic may redirect to, as `hostOf` writes them. */
  redirectHosts: string[];
  /** Origins besides the site's own whose pages may use a visitor's session cookie, e.g. `https://app.example.com`. */
  trustedOrigins: string[];
  /** Absolute path of the folder for what is too large for memory; created when needed. */
  temporaryDirectory: string;
  /** Absolute path of the folder of private files; null: `apps-files` beside the database. */
  filesDirectory: string | null;
  /** The upload provider for private files, with the keys of Strapi's upload plugin; null: Strapi's where it is private, else the folder. */
  filesProvider: {
    provider: string;
    providerOptions: Record<string, unknown>;
    actionOptions: Record<string, unknown>;
    /** New files go where they would go without it; its own files are read and removed. */
    readOnly: boolean;
  } | null;
  fetch: FetchConfig;
  /** Who may read `/_apps/metrics` besides administrators: the bearer of this token; '' without one. */
  metrics: { token: string };
  /** Counts attempts and rates, and carries signals between processes; '': none. */
  redis: { url: string };
  /** The form of all lines of Strapi's log: its own text, or a JSON object a line. */
  log: { format: 'text' | 'json' };
}

/** Calls out of the server by apps. Hosts are written `host:port`, as outbound/hosts.ts makes them of the configuration's. */
export interface FetchConfig {
  /** Who may be called: by app id, and for all apps under `*`. */
  hosts: Record<string, string[]>;
  /** Those that may be at private addresses, and may be called by plain http. */
  private: string[];
  /** By name: its value, '' when it is not set, and the hosts that it may be sent to. */
  secrets: Record<string, { value: string; hosts: string[] }>;
  /** Milliseconds of one call, redirects included. Default 5000. */
  timeout: number;
  /** Bytes of an answer after decoding, and of a request's body. Default 1,000,000. */
  size: number;
}

export interface SiteConfig {
  id: string;
  title: string;
  /** Theme id of the configuration file; the choice made in the admin panel wins over it. */
  theme: string;
  /** Locale of its content, as Strapi's internationalization names it; Strapi's default one without it. */
  locale?: string;
  /** IANA time zone of the dates on its pages, such as `Europe/Paris`; the server's without it. */
  timeZone?: string;
}

/** How the plugin's own processes are started: those that run logic, and those that do work for the server. */
export interface SandboxConfig {
  /**
   * A program with arguments, put in front of Node.js: it restricts itself, then executes the rest of its arguments with the
   * descriptors that it was given. Default: none.
   */
  command: string[];
}

/** How jobs are done (docs/reference/jobs.md). */
export interface JobsConfig {
  /** Jobs that each process does at once; 0: this process does none. */
  workers: number;
  /** Tries after the first. */
  retries: number;
  /** Seconds before the second try; each later pause is twice as long, an hour at most. */
  backoff: number;
  /** Seconds after which the job of a process that gives no sign of life goes to another one. */
  lease: number;
  /** Days for which jobs are kept that are done or dead. */
  keep: number;
}

/** Limits of logic, searches and request bodies (docs/limits.md); each is configurable under `limits`. */
export interface Limits {
  /** Wall-clock milliseconds for all logic of one request, nested blocks and apps included. Default 2000. */
  logicTime: number;
  /** Megabytes of memory a sandbox context may use. Default 64. */
  logicMemory: number;
  /** Host calls a request. Default 1000. */
  hostCalls: number;
  /** Milliseconds of the server's main thread that all host calls of one request may take. Default 1000. */
  hostTime: number;
  /** Changes of the host's content a request, those that failed counted too. Default 50. */
  contentChanges: number;
  /** Bytes of a function's result as JSON. Default 1 MiB. */
  resultSize: number;
  /** Log entries a request. Default 100. */
  logEntries: number;
  /** Bytes of one log entry; longer ones are cut. Default 10240. */
  logEntrySize: number;
  /** Bytes of a JSON or form body; NDJSON streams are bounded by line instead. Default 1 MiB. */
  bodySize: number;
  /** Bytes of all files of one form; each field of files has a limit of its own. Default 600 MiB. */
  uploadSize: number;
  /** Bytes of all files that wait in the temporary folder for the next submission of their form; one sender has an eighth. Default 1 GiB. */
  keptSize: number;
  /** Records of one bulk creation of a requester who may add records, but neither see nor change all of them. Default 1000. */
  submittedRecords: number;
  /** Pixels of a picture that a form sends, all its frames, pages and layers together. Default 50,000,000. */
  imagePixels: number;
  /** Mails that an app may send in an hour, in one site. Default 100. */
  mails: number;
  /** Jobs of an app, in one site, that may wait when logic adds another. Default 10,000. */
  jobs: number;
  /** Drafts of all forms of an app in one site. Default 10,000. */
  drafts: number;
  /** Those of one requester, or of one network for visitors without an account. Default 100. */
  draftsOfSender: number;
  /** Bytes of all drafts of an app in one site, files included; those of one sender an eighth. Default 2 GiB. */
  draftSize: number;
  /** How often anonymous may save one form from one address in ten minutes; 0: without a limit. Default 200. */
  formPosts: number;
  /** Milliseconds for which a form must have been shown before anonymous saves it. Default 1000. */
  formTime: number;
  /** How often a request that collided with another is retried. Default 10. */
  attempts: number;
  /** Milliseconds that a statement of a search may run, and may wait before it runs. Default 2000. */
  searchTime: number;
  /**
   * Searches over many records that may run at once in each server process; but at most two or one less than the number of
   * processors, whichever is larger. Default 4.
   */
  searches: number;
  /** Runner processes that hold the isolates. Default 1. */
  runners: number;
  /** Isolates that may run at once in a runner. Default 12. */
  isolates: number;
}
