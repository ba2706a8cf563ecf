import { makeDateSettable } from '../../shared/settable-date';
import type {
  Clock,
  FetchAnswer,
  FetchCall,
  FetchFixtures,
  Fields,
  Items,
  Jobs,
  Page,
  Place,
  Pressed,
  Records,
  StoredRecord,
  TestedApp,
  User,
  Visitor,
  Who,
} from '../index';
import type { Browser } from './browser';
import type { Content, People } from './fixtures';
import type { Answerer, RecordTools, Row, TestableApp, TestTools } from './plugin';

interface Site {
  id: string;
  url: string;
}

interface AppParts {
  site: Site;
  people: People;
  content: Content;
  tools: TestTools;
  records: RecordTools;
  newBrowser(): Browser;
}

/** What tests share: browsers by their users, for one test; and the clock. */
interface Session {
  /** Begins a test: no visitor has cookies, the clock runs. */
  reset(): void;
  /** The app as tests in its folder see it. */
  tested(app: TestableApp): TestedApp;
}

export function createSession(parts: AppParts): Session {
  const { site, people, content, tools, newBrowser } = parts;
  const browsers = new Map<string, Promise<Browser>>();
  const clock = createClock(() => {
    tools.setClock(stoppedAt());
    for (const [who, browser] of browsers)
      if (who === ANONYMOUS) void browser.then((one) => one.forgetToken());
      else browsers.delete(who);
  });

  const services = createServices();
  tools.setAnswerer(services.answerer);

  const open = async (who: Who): Promise<Browser> => {
    const browser = newBrowser();
    if (who !== 'anonymous') await logIn(browser, site, await people.ensure(who));
    return browser;
  };
  const browserOf = (who: Who): Promise<Browser> => {
    const key = nameOf(who);
    const browser = browsers.get(key) ?? open(who);
    browsers.set(key, browser);
    return browser;
  };

  const visitor = (app: TestableApp, records: Records, who: Who): Visitor => {
    const render: Visitor['render'] = async (block, place) => {
      const address = addressOf(app, site, ['blocks', block], place);
      return (await browserOf(who)).open(address, { blockOnly: true, what: `the block "${block}"` });
    };
    return {
      as: (other) => visitor(app, records, checkedWho(other)),
      render,
      async submit(block, fields: Fields = {}, { button, ...place }: Place & Pressed = {}): Promise<Page> {
        const page = await render(block, place);
        return page.submit(fields, button === undefined ? {} : { button });
      },
      async record(id, { edit = false, ...place } = {}) {
        const address = addressOf(app, site, ['record', ...id.split('/'), ...(edit ? ['edit'] : [])], place);
        return (await browserOf(who)).open(address, { blockOnly: true, what: `the record "${id}"` });
      },
      async call(element, { body, ...place } = {}) {
        const [block = '', name = '', more] = element.split('/');
        if (!name || more !== undefined) throw new Error(`app.call: "${element}" is not <block>/<element>`);
        const address = addressOf(app, site, ['blocks', block, name], place);
        const method = body === undefined ? 'GET' : 'POST';
        return (await browserOf(who)).ask(app.url, { method, address, body });
      },
      async open(address) {
        const isPath = !/^https?:/.test(address) && !address.startsWith(`/${site.id}/`);
        const url = isPath ? `${site.url}/${address.replace(/^\//, '')}` : address;
        return (await browserOf(who)).open(url, { blockOnly: false, what: `the page ${address}` });
      },
      async request(method, path, body) {
        const address = `${app.url}/${path}`.replace(/\/$/, '');
        return (await browserOf(who)).ask(app.url, { method: method.toUpperCase(), address, body });
      },
      records,
      content,
      clock,
      fetch: services.fixtures,
    };
  };

  return {
    reset() {
      clock.reset();
      services.reset();
      browsers.clear();
    },
    tested(app) {
      const identityOf = async (user: User) => (await people.ensure(user)).identity;
      const records = createRecords(parts.records, site.id, app, identityOf);
      const jobs: Jobs = {
        run: () => tools.runJobs(),
        list: (state) => tools.jobs({ site: site.id, app: app.id }, state),
      };
      return { ...visitor(app, records, 'anonymous'), id: app.id, url: app.url, jobs };
    },
  };
}

const nameOf = (who: Who): string => JSON.stringify(who);

const ANONYMOUS = nameOf('anonymous');

/** An address below the app, at a content item. */
function addressOf(
  app: TestableApp,
  site: Site,
  segments: readonly string[],
  { content = '', query = {} }: Place = {},
): string {
  const path = typeof content === 'string' ? content : content.path;
  if (path === null) throw new Error('The site shows no such content item: it has no path');
  const below = path.replace(/^\/|\/$/g, '');
  const at = app.url.replace(site.url, below === '' ? site.url : `${site.url}/${below}`);
  const url = new URL(`${at}/${segments.map(encodeURIComponent).join('/')}`);
  for (const [name, values] of Object.entries(query))
    for (const value of [values].flat()) url.searchParams.append(name, String(value));
  return url.href;
}

function checkedWho(who: Who): Who {
  if (who === 'anonymous' || (typeof who === 'object' && typeof who?.user === 'string')) return who;
  throw new Error(`app.as takes 'anonymous' or { user, groups }, not ${JSON.stringify(who)}`);
}

/** Fills in the site's login form, as a person does. */
async function logIn(
  browser: Browser,
  site: Site,
  { username, password }: { username: string; password: string },
): Promise<void> {
  const page = await browser.open(`${site.url}/@@login`, { blockOnly: false, what: 'the login page' });
  const field = (selector: string) => page.find(selector)?.attributes.name ?? '';
  const name = field('form input:not([type=hidden]):not([type=password])');
  const after = await page.submit({ [name]: username, [field('form input[type=password]')]: password });
  if (after.status >= 400 || after.redirect === null)
    throw new Error(`"${username}" cannot log in (status ${after.status}): ${after.text.slice(0, 200)}`);
}

/** The records of an app, straight from the store. @param identityOf makes a user, and gives what records keep of them */
function createRecords(
  tools: RecordTools,
  siteId: string,
  app: TestableApp,
  identityOf: (user: User) => Promise<string>,
): Records {
  const open = async () => {
    const found = await tools.app(siteId, app.id);
    if (!found) throw new Error(`There is no app "${app.id}"`);
    return { ...found, store: tools.store() };
  };
  const shown = ({ id, items }: Row): StoredRecord => ({
    id,
    items: { ...(items as Items), id },
    url: `${app.url}/record/${encodeURIComponent(id).replaceAll('%2F', '/')}`,
  });
  const creatorOf = async (who: Who = 'anonymous') => (who === 'anonymous' ? null : identityOf(who));

  return {
    async create({ id: ownId, ...items }, { id = ownId as string | undefined, creator } = {}) {
      const { store, key } = await open();
      const record = { items, creator: await creatorOf(creator), ...(id !== undefined && { id, whenTaken: 'refuse' }) };
      return shown(await store.transact((unit) => unit.create(key, record)));
    },
    async get(id) {
      const { store, key } = await open();
      const found = await store.get(key, id);
      return found && shown(found);
    },
    async search(query, { sort_index: sortIndex, ...options } = {}) {
      const { store, key, indexes } = await open();
      const wanted = { ...options, ...(query && { query }), ...(sortIndex !== undefined && { sortIndex }) };
      return (await store.search(key, indexes, wanted)).records.map(shown);
    },
    async count(query, names) {
      const { store, key, indexes } = await open();
      return store.count(key, indexes, query || undefined, names);
    },
    async clear() {
      const { store, key, indexes } = await open();
      // Clearing also drops the indexes, and the next search would build them.
      if ((await store.count(key, indexes)) > 0) await store.clear(key);
    },
  };
}

type Given = FetchAnswer | ((call: FetchCall) => FetchAnswer);

/** Web services in tests: answers by addresses, for one test. */
interface FakeServices {
  fixtures: FetchFixtures;
  answerer: Answerer;
  reset(): void;
}

function createServices(): FakeServices {
  const answers: { url: string; answer: Given }[] = [];
  const calls: FetchCall[] = [];
  return {
    fixtures: {
      get calls() {
        return [...calls];
      },
      answer(url, answer) {
        // The latest answer of an address counts.
        answers.unshift({ url, answer });
      },
    },
    answerer(_app, { url, method, headers, body }) {
      const call = { url, method: method.toUpperCase(), headers, body };
      calls.push(call);
      const found = answers.find((one) => matches(one.url, url));
      if (!found) return null;
      return sent(typeof found.answer === 'function' ? found.answer(call) : found.answer);
    },
    reset() {
      answers.length = 0;
      calls.length = 0;
    },
  };
}

/** @param wanted an address, or the beginning of one and `*` */
const matches = (wanted: string, url: string): boolean =>
  wanted.endsWith('*') ? url.startsWith(wanted.slice(0, -1)) : wanted === url;

function sent(answer: FetchAnswer): NonNullable<ReturnType<Answerer>> {
  const { status = 200, headers = {}, body = '' } = answer;
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  if (typeof body === 'string') return { status, headers: lower, text: body };
  return { status, headers: { 'content-type': 'application/json', ...lower }, text: JSON.stringify(body) };
}

let stopped: number | null = null;

/** The time at which the clock stands still, in milliseconds since 1970; null: it runs. */
const stoppedAt = (): number | null => stopped;

/** Puts the clock into this process. Before Strapi is loaded: some of its modules keep `Date.now`. */
export function installClock(): void {
  makeDateSettable(globalThis, stoppedAt);
}

/** @param changed called after each change: tokens and sessions carry the time of their making */
function createClock(changed: () => void): Clock {
  return {
    set(time) {
      const at = new Date(time).getTime();
      if (Number.isNaN(at)) throw new Error(`app.clock.set: ${JSON.stringify(time)} is not a time`);
      stopped = at;
      changed();
    },
    reset() {
      if (stopped === null) return;
      stopped = null;
      changed();
    },
  };
}
