import { type Host, type HostOptions, startHost } from './host';
import { adminToken, apiToken, createUser, grantRole, type User, userToken } from './seed';
import { type Answer, type Credential, type Message, send } from './send';
import { fixtureThemes } from './theme';

/** The users of the tests by their names, besides `anonymous`, who sends no credentials; each is made at its first use. */
const users: Record<string, { role: string; actions?: string[] }> = {
  una: { role: 'strangers' },
  rita: { role: 'readers' },
  nina: { role: 'strangers' },
  anna: { role: 'authors' },
  abel: { role: 'authors' },
  eric: { role: 'editors' },
  sam: { role: 'submitters' },
  mona: { role: 'managers', actions: ['plugin::apps.app.manage'] },
  finder: { role: 'finders', actions: ['plugin::apps.record.find'] },
  creator: { role: 'creators', actions: ['plugin::apps.record.create'] },
  updater: { role: 'updaters', actions: ['plugin::apps.record.update'] },
  deleter: { role: 'deleters', actions: ['plugin::apps.record.delete'] },
};

const tokens: Record<string, { type: 'read-only' | 'full-access' | 'custom'; permissions?: string[] }> = {
  readToken: { type: 'read-only' },
  fullToken: { type: 'full-access' },
  findToken: { type: 'custom', permissions: ['plugin::apps.record.find'] },
  createToken: { type: 'custom', permissions: ['plugin::apps.record.create'] },
  manageToken: { type: 'custom', permissions: ['plugin::apps.app.manage'] },
};

/** Administrators by their admin permissions, with a content type after a space; null is a super admin. */
const administrators: Record<string, string[] | null> = {
  root: null,
  ada: ['plugin::apps.manage'],
  overseer: ['plugin::apps.read'],
  clerk: ['plugin::apps.records'],
  developer: ['plugin::apps.develop'],
  maker: ['plugin::apps.develop', 'plugin::apps.records'],
  foreman: ['plugin::apps.jobs'],
  auditor: ['plugin::apps.audit'],
  guardian: ['plugin::apps.persons'],
  watcher: ['plugin::apps.metrics'],
  publisher: ['create', 'read', 'update', 'delete', 'publish'].map(
    (action) => `plugin::content-manager.explorer.${action} api::article.article`,
  ),
  olga: ['plugin::upload.read'],
  author: ['plugin::upload.read'],
};

export type Person = string;

/** The `Accept` of a page. */
export const html = 'text/html';

/** One row of a table: a request, its requester, and the expected answer. */
export interface Row {
  /** Title of the test, in words of the reference. */
  title: string;
  as?: Person;
  /** Method and raw path: below `/site/@@apps/`, or below the host with a leading slash. */
  send: string;
  /** Default `application/json`; pages are requested with `text/html`. */
  accept?: string;
  headers?: Record<string, string>;
  json?: unknown;
  form?: Record<string, string | string[]>;
  body?: string | Buffer;
  /** False: without `X-CSRF-TOKEN`. By default every changing request carries the requester's own. */
  csrf?: boolean;
  status: number;
  /** Name of the error. */
  error?: string;
  /** Must be contained in the JSON body (`toMatchObject`; a list exactly, entry by entry). */
  gives?: object;
  /** Is the JSON body. */
  is?: unknown;
  /** Texts that must appear in the body, and texts that must not. */
  has?: (string | RegExp)[];
  lacks?: (string | RegExp)[];
  /** Response headers; null: absent. */
  answers?: Record<string, string | RegExp | null>;
}

/** The part of a row that is sent. */
export type RowRequest = Omit<Row, 'title' | 'status'>;

export interface Stage {
  host: Host;
  credential(who: Person): Promise<Credential>;
  user(who: Person): Promise<User>;
  csrf(who: Person): Promise<string>;
  /** Sends a row's request. */
  send<T = unknown>(row: RowRequest): Promise<Answer<T>>;
  /** Creates a record, in the name of a manager unless said otherwise. */
  put(app: string, id: string, items?: object, as?: Person): Promise<void>;
  /** Stores a record as it may have been stored under other rules: nothing of it is checked. */
  keep(app: string, id: string, items: object): Promise<void>;
  /** A record's items, read by a manager; null if there is none. */
  items(app: string, id: string): Promise<Record<string, unknown> | null>;
  close(): Promise<void>;
}

/** Calls `make` once a key. */
function once<T>(make: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const made = new Map<string, Promise<T>>();
  return (key) => {
    const known = made.get(key);
    if (known) return known;
    const fresh = make(key);
    made.set(key, fresh);
    return fresh;
  };
}

/** Runs works one after the other. */
function queue() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

const safe = ['GET', 'HEAD', 'OPTIONS'];

/**
 * More environment for every stage, as JSON in TEST_HOST_ENV: with a fresh database of another kind (`DATABASE_CLIENT` …),
 * the tables of one test file can be run against it.
 */
const everywhere: Record<string, string> = JSON.parse(process.env.TEST_HOST_ENV ?? '{}');

/** A second process on a stage's database. */
export function startTwin(stage: Stage, options: Omit<HostOptions, 'database'> = {}): Promise<Host> {
  return startHost({
    themesDirectory: fixtureThemes,
    ...options,
    database: stage.host.database,
    env: { APPS_THEME: 'main', ...everywhere, ...options.env },
  });
}

/** A host with the test themes and its cast. */
export async function openStage(options: HostOptions = {}): Promise<Stage> {
  const host = await startHost({
    themesDirectory: fixtureThemes,
    ...options,
    env: { APPS_THEME: 'main', ...everywhere, ...options.env },
  });

  // Two roles made at once could be one role made twice.
  const inTurn = queue();
  const user = once(async (who) => {
    const { role, actions } = users[who] as { role: string; actions?: string[] };
    await inTurn(() => grantRole(host, role, actions));
    return createUser(host, { username: who, role });
  });
  const credential = once<Credential>(async (who) => {
    if (who === 'anonymous') return null;
    if (users[who]) return { bearer: await userToken(host, await user(who)) };
    if (tokens[who]) return { bearer: await apiToken(host, { name: who, ...tokens[who] }) };
    const actions = administrators[who];
    if (actions === undefined) throw new Error(`No user of the tests is called "${who}"`);
    return { bearer: await adminToken(host, { email: `${who}@example.com`, actions: actions ?? undefined }) };
  });
  const csrf = once(async (who) => {
    const headers = { accept: 'application/json' };
    const as = await credential(who);
    const answer = await send(host.url, { method: 'GET', path: '/site/@@apps/open', as, headers });
    return String(answer.headers['x-csrf-token'] ?? '');
  });

  const stage: Stage = {
    host,
    user,
    credential,
    csrf,
    async send<T>({ as: who = 'anonymous', send: line, accept, csrf: withToken, ...row }: RowRequest) {
      const [method = '', rest = ''] = line.split(/ (.*)/s);
      const headers: Record<string, string> = { accept: accept ?? 'application/json' };
      if (!safe.includes(method) && withToken !== false) headers['x-csrf-token'] = await csrf(who);
      const message: Message = {
        method,
        path: rest.startsWith('/') ? rest : `/site/@@apps/${rest}`,
        as: await credential(who),
        headers: { ...headers, ...row.headers },
        json: row.json,
        form: row.form,
        body: row.body,
      };
      return send<T>(host.url, message);
    },
    async put(app, id, items = {}, as = 'mona') {
      const answer = await stage.send({ as, send: `PUT ${app}/record/${encodeURIComponent(id)}`, json: items });
      if (answer.status !== 201) throw new Error(`Record "${id}" was not made: ${answer.status} ${answer.text}`);
    },
    async keep(app, id, items) {
      await host.run(
        (strapi, key, record) => {
          const store = strapi.plugin('apps').service('records').store();
          return store.createMany(key, { read: () => [[record]] });
        },
        { site: 'site', app },
        { id, whenTaken: 'refuse', items, creator: null },
      );
    },
    async items(app, id) {
      const line = `GET ${app}/record/${encodeURIComponent(id)}`;
      const answer = await stage.send<Record<string, unknown>>({ as: 'mona', send: line });
      if (answer.status !== 200 && answer.status !== 404) throw new Error(`${answer.status} ${answer.text}`);
      return answer.status === 404 ? null : answer.json;
    },
    close: () => host.stop(),
  };
  return stage;
}
