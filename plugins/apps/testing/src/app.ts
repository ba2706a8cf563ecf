import type { Fields, Jobs, Page, Place, Pressed, Records, TestedApp, User, Visitor, Who } from '../index';
import type { Browser } from './browser';
import { createClock, stoppedAt } from './clock';
import type { Content } from './content';
import { createServices } from './fetch';
import type { People } from './people';
import type { RecordTools, TestableApp, TestTools } from './plugin';
import { createRecords } from './records';

export interface Site {
  id: string;
  url: string;
}

export interface AppParts {
  site: Site;
  people: People;
  content: Content;
  tools: TestTools;
  records: RecordTools;
  newBrowser(): Browser;
}

/** What tests share: browsers by their users, for one test; and the clock. */
export interface Session {
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
    browsers.clear();
  });

  const services = createServices();
  tools.setAnswerer(services.answerer);

  const open = async (who: Who): Promise<Browser> => {
    const browser = newBrowser();
    if (who !== 'anonymous') await logIn(browser, site, await people.ensure(who));
    return browser;
  };
  const browserOf = (who: Who): Promise<Browser> => {
    const key = JSON.stringify(who);
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
