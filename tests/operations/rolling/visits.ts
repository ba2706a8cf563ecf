import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { cookieOf, hiddenField } from '../../support/login';
import { type Answer, locationOf, type Message, send } from '../../support/send';
import type { ThemeCopy } from '../../support/theme';

/** Only what both releases know: a theme is changed before or after an exchange. */
const blocks: Record<string, [definition: string, layout: string, logic?: string]> = {
  queue: [
    'elements:\n  add: BASIC\n  effect: BASIC\n  name: { type: TEXT, index_type: field }\n  body: { type: TEXT, index_type: text }\n',
    '',
    `export function add(context) {
  const { name } = context.request.body;
  context.app.create_record('made-' + name).save({ name, body: 'words of ' + name });
  return { job: context.jobs.add('queue/effect', { name }) };
}
export function effect(context) {
  context.app.create_record().save({ effect: context.params.name });
}
`,
  ],
  apply: [
    'drafts: true\nelements:\n  name: { type: TEXT, label: Name, required: true }\n',
    '{name}{_draft}{_save}',
    "export function on_save(context) { context.flash('Stored: ' + context.record.name); }\n",
  ],
  seen: [
    'refresh: on-change\nelements:\n  found: BASIC\n',
    '<b>found: {found}</b>',
    'export const found = ({ app, request }) => app.search(`name == "${request.query.name}"`).length;\n',
  ],
  slot: ['elements:\n  at: { type: DATETIME, label: At, unique: true }\n', '{at}{_save}'],
  mine: ['self_service: [view, edit]\nelements:\n  name: { type: TEXT, label: Name }\n', '{name}{_save}'],
};

export async function writeApp(themes: ThemeCopy): Promise<void> {
  const app = 'main/apps/rolling';
  await themes.write(`${app}/settings.yaml`, "acl:\n  rights:\n    editor: ['*']\n");
  for (const [id, [definition, layout, logic]] of Object.entries(blocks)) {
    await themes.write(`${app}/blocks/${id}.yaml`, definition);
    await themes.write(`${app}/blocks/${id}.html`, layout);
    if (logic) await themes.write(`${app}/blocks/${id}.js`, logic);
  }
}

/** What one visitor keeps between requests. */
export interface Visit {
  /** The cookie of a login. */
  cookie: string;
  /** A token of anonymous requests. */
  csrf: string;
}

/** An answer that is not the expected one. */
export class Unexpected extends Error {
  constructor(
    readonly step: string,
    { status, text }: Answer,
  ) {
    super(`${step}: ${status} ${text.slice(0, 300)}`);
  }
}

/** A way to a server. */
export interface Ask {
  /** Sends a request, and expects a status and a text. */
  (step: string, status: number, message: Message, has?: string): Promise<Answer>;
  /** Resolves when a stream of changes tells of one; like a browser, opens the stream again when its server ends. */
  changed(path: string): Promise<void>;
}

export const app = '/site/@@apps/rolling';
const json = { accept: 'application/json' };
const html = { accept: 'text/html' };

/** Opens a stream of changes. @returns whether it has told of one before it ended */
async function toldOfChange(address: string): Promise<boolean> {
  const asked = request(address).end();
  const [stream] = (await once(asked, 'response')) as [IncomingMessage];
  if (stream.statusCode !== 200) throw new Error(`a stream of changes: ${stream.statusCode}`);
  let text = '';
  for await (const piece of stream.setEncoding('utf8')) {
    text += piece;
    if (text.includes('event: change')) return true;
  }
  return false;
}

export function asker(origin: string): Ask {
  const ask = async (step: string, status: number, message: Message, has = '') => {
    const answer = await send(origin, message);
    if (answer.status !== status || !answer.text.includes(has)) throw new Unexpected(step, answer);
    return answer;
  };
  return Object.assign(ask, {
    async changed(path: string) {
      while (!(await toldOfChange(`${origin}${path}`)));
    },
  });
}

/** The steps of which each continues what the one before has made, by `first` and `second` in turn. */
type Steps = (first: Ask, second: Ask, visit: Visit, name: string) => Promise<void>;

/** Times that were taken so far. */
let slots = 0;

const path = (answer: Answer) => `${locationOf(answer).pathname}${locationOf(answer).search}`;

/** What one release makes and the other one reads, by what it is. */
export const carried: Record<string, Steps> = {
  async 'records, searches and the token of a request'(first, second, { csrf }, name) {
    const headers = { ...json, 'x-csrf-token': csrf };
    await first('add', 200, { method: 'POST', path: `${app}/blocks/queue/add`, headers, json: { name } });
    await second('read', 200, { method: 'GET', path: `${app}/record/made-${name}`, headers: json }, name);
    const ask = (query: string) => ({ method: 'POST', path: `${app}/search`, headers, json: { query } });
    await second('search by field', 200, ask(`name == '${name}'`), `made-${name}`);
    await second('search by words', 200, ask(`'${name}' in body`), `made-${name}`);
    const change = { method: 'PATCH', path: `${app}/record/made-${name}`, headers, json: { body: `other of ${name}` } };
    await second('change', 200, change);
    await first('search after a change', 200, ask(`'other ${name}' in body`), `made-${name}`);
  },

  async 'logins, forms, drafts and messages'(first, second, { cookie }, name) {
    const headers = { ...html, cookie };
    const get = (at: string) => ({ method: 'GET', path: at, headers });
    const page = await first('form', 200, get(`${app}/blocks/apply`));
    const form = { name, _csrf: hiddenField(page.text, '_csrf') };
    const saved = await second('save a draft', 303, {
      method: 'POST',
      path: `${app}/blocks/apply`,
      headers,
      form: { ...form, _draft: '1' },
    });
    const draft = path(saved).split('?')[0] as string;
    const opened = await first('open a draft', 200, get(draft), `value="${name}"`);
    const sent = { ...form, _csrf: hiddenField(opened.text, '_csrf'), _save: '1' };
    const done = await second('send a draft', 303, { method: 'POST', path: draft, headers, form: sent });
    const withMessage = { ...headers, cookie: [cookie, cookieOf(done)].filter(Boolean).join('; ') };
    await first('a message', 200, { method: 'GET', path: path(done), headers: withMessage }, `Stored: ${name}`);
    await second('an ended draft', 404, get(draft));
  },

  async 'renderings that are kept, and changes for open pages'(first, second, { csrf }, name) {
    const headers = { ...json, 'x-csrf-token': csrf };
    const page = { method: 'GET', path: `${app}/blocks/seen?name=${name}-seen`, headers: html };
    const shown = await first('page', 200, page, 'found: 0');
    for (const ask of [first, second]) await ask('page again', 200, page, 'found: 0');
    const [, settings = '{}'] = /data-apps-settings='([^']+)'/.exec(shown.text) ?? [];
    const { live, since } = JSON.parse(settings.replaceAll('&amp;', '&')) as { live: string[]; since: string };
    await second('create', 201, { method: 'POST', path: app, headers, json: { name: `${name}-seen` } });
    for (const ask of [first, second]) await ask('changed page', 200, page, 'found: 1');
    // It gets what has changed since the other release has made the page.
    await second.changed(`/site/@@apps.live?t=${live.join()}&since=${since}`);
  },

  async 'links to own records'(first, second, { csrf }, name) {
    const headers = { ...json, 'x-csrf-token': csrf };
    const given = { name, _save: '1' };
    const made = await first('make', 201, { method: 'POST', path: `${app}/blocks/mine`, headers, json: given });
    const { link } = made.json as { link: string };
    const own = new URL(link).pathname;
    await second('open', 200, { method: 'GET', path: own, headers: html }, name);
  },

  async 'times that are taken once'(first, second, { csrf }) {
    const headers = { ...json, 'x-csrf-token': csrf };
    slots += 1;
    const at = new Date(slots * 60_000).toISOString().slice(0, 16);
    const message = { method: 'POST', path: `${app}/blocks/slot`, headers, json: { at, _save: '1' } };
    await first('take', 201, message);
    await second('take again', 422, message);
  },

  async 'answers of requests that are sent again'(first, second, { csrf }, name) {
    const headers = { ...json, 'x-csrf-token': csrf, 'idempotency-key': `key-of-${name}` };
    const message = { method: 'POST', path: app, headers, json: { once: name } };
    const one = await first('send', 201, message);
    const { id } = one.json as { id: string };
    await second('send again', 201, message, id);
  },
};
