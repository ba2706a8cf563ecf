import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { configured } from '../support/configure';
import { availableClients } from '../support/databases';
import { useDatabase, useHost, useThemes } from '../support/hooks';
import { grantArticles } from '../support/seed';
import { type Message, send } from '../support/send';
import { type Loss, openWire, type Wire } from '../support/wire';

const servers = (await availableClients()).filter((client) => client !== 'sqlite');
if (servers.length === 0) test.skip('without a database server there is nothing to test', () => {});

const losses: Loss[] = ['statement', 'answer', 'answer before'];

const logic = `
export const add = ({ app, jobs, request }) => {
  app.create_record().save({ name: request.body.name });
  jobs.add('b/work', { name: request.body.name });
};
/** Stores a record in the transaction that ends the job. */
export const work = ({ app, params }) => void app.create_record().save({ name: 'effect of ' + params.name });
/** Adds a job, and changes no record. */
export const later = ({ jobs, request }) => void jobs.add('b/work', { name: request.body.name }, { delay: 3_600 });
export const content = ({ api, request }) =>
  api.documents('api::article.article').create({ data: { title: request.body.name, slug: request.body.name } }).documentId;
`;

/** Ways to a commit: what is sent to the app, and how many rows of `table` have the name afterwards. */
const ways: Record<string, { send(name: string): Partial<Message>; table?: string; rows?: number }> = {
  'a new record': { send: (name) => ({ method: 'PUT', path: `/record/${randomUUID()}`, json: { name } }) },
  'a record of a block': {
    send: (name) => ({ method: 'PUT', path: `/record/${randomUUID()}`, json: { block: 'b', name } }),
  },
  'a changed record': { send: (name) => ({ method: 'PATCH', path: '/record/known', json: { name } }) },
  'a form': { send: (name) => ({ method: 'POST', path: '/blocks/b', form: { name, _save: '' } }) },
  'several records': { send: (name) => ({ method: 'POST', path: '/records', json: [{ name }, { name }] }), rows: 2 },
  'an import': {
    send: (name) => ({
      method: 'POST',
      path: '/records',
      body: Array.from({ length: 700 }, (_, n) => JSON.stringify({ path: `${name}-${n}`, items: { name } })).join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
    }),
    rows: 700,
  },
  'a job without a record': {
    send: (name) => ({ method: 'POST', path: '/blocks/b/later', json: { name } }),
    table: 'apps_jobs',
  },
  'changed content': {
    send: (name) => ({ method: 'POST', path: '/blocks/b/content', json: { name } }),
    table: 'articles',
    // The draft and what is published.
    rows: 2,
  },
};
const columns: Record<string, string> = { apps_records: 'items', apps_jobs: 'data', articles: 'title' };

describe.skipIf(servers.length === 0).each(servers)('commits on %s whose connection is lost', (client) => {
  const database = useDatabase(client);
  const themes = useThemes({
    'main/apps/fates/settings.yaml': "acl:\n  rights:\n    editor: ['*']\n",
    'main/apps/fates/blocks/b.yaml':
      'elements:\n  name: { type: TEXT, index_type: field }\n  add: BASIC\n  work: BASIC\n  later: BASIC\n  content: BASIC\n',
    'main/apps/fates/blocks/b.html': '{name}{_save}',
    'main/apps/fates/blocks/b.js': logic,
  });
  let wire: Wire;
  beforeAll(async () => {
    const { DATABASE_HOST = '', DATABASE_PORT = '' } = database().address.env;
    wire = await openWire(DATABASE_HOST, Number(DATABASE_PORT));
  });
  afterAll(() => wire?.close());
  const host = useHost(() => ({
    themesDirectory: themes.directory,
    env: {
      ...database().address.env,
      ...configured({ apps: { jobs: { retries: 5, backoff: 1, lease: 5 } } }),
      APPS_THEME: 'main',
      DATABASE_HOST: '127.0.0.1',
      DATABASE_PORT: String(wire.port),
    },
  }));
  let token = '';

  const ask = ({ path, headers, ...message }: Partial<Message>) =>
    send<Record<string, unknown>>(host.url, {
      method: 'GET',
      ...message,
      path: `/site/@@apps/fates${path}`,
      headers: { accept: 'application/json', 'x-csrf-token': token, ...headers },
    });

  /** Rows that have a name, as the server itself sees them. */
  const stored = async (name: string, table = 'apps_records') => {
    const column = columns[table] as string;
    const found = await database().knex(table).select(column);
    return found.filter((row) => JSON.stringify(row[column]).includes(name)).length;
  };

  beforeAll(async () => {
    token = String((await ask({ path: '' })).headers['x-csrf-token']);
    await grantArticles(host, 'Public', ['create', 'update', 'find', 'findOne']);
    expect((await ask({ method: 'PUT', path: '/record/known', json: { name: 'known' } })).status).toBe(201);
    // The index is there.
    expect((await ask({ method: 'POST', path: '/blocks/b/add', json: { name: 'first' } })).status).toBe(200);
    await vi.waitFor(async () => expect(await stored('effect of first')).toBe(1), { timeout: 20_000 });
  });

  const cases = Object.entries(ways).flatMap(([way, about]) => losses.map((loss) => ({ way, loss, ...about })));
  test.each(cases)('a commit of $way: losing the $loss of COMMIT', async ({ loss, table, rows = 1, send: message }) => {
    const name = `name-${randomUUID()}`;
    wire.cutAt(new RegExp(name), /COMMIT/, loss);
    const { status, text, headers } = await ask(message(name));
    expect(wire.hasCut(), text).toBe(true);
    if (loss === 'statement') {
      expect([status, headers['retry-after']], text).toEqual([503, '2']);
      expect(text).toContain('ServiceUnavailableError');
    } else expect(status, text).toBeLessThan(400);
    expect(await stored(name, table)).toBe(loss === 'statement' ? 0 : rows);
  });

  test.each(losses)('requests that are committed together have one outcome: losing the %s of COMMIT', async (loss) => {
    const name = `together-${randomUUID()}`;
    wire.cutAt(new RegExp(name), /COMMIT/, loss);
    const put = () => ask({ method: 'PUT', path: `/record/${randomUUID()}`, json: { name } });
    const answers = await Promise.all(Array.from({ length: 12 }, put));
    const good = answers.filter(({ status }) => status === 201);
    expect(answers.filter(({ status }) => status !== 201 && status !== 503)).toEqual([]);
    expect(await stored(name)).toBe(good.length);
    if (loss !== 'statement') expect(good).toHaveLength(12);
  });

  test.each(losses)('requests that change one record together: losing the %s of COMMIT', async (loss) => {
    const name = `changed-${randomUUID()}`;
    const path = `/record/${name}`;
    expect((await ask({ method: 'PUT', path, json: { n: 0 } })).status).toBe(201);
    wire.cutAt(new RegExp(name), /COMMIT/, loss);
    const change = () => ask({ method: 'PATCH', path, json: { name, $inc: { n: 1 } } });
    const answers = await Promise.all(Array.from({ length: 12 }, change));
    const good = answers.filter(({ status }) => status === 200);
    expect(answers.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
    expect((await ask({ path })).json).toMatchObject({ n: good.length });
    if (loss !== 'statement') expect(good).toHaveLength(12);
  });

  test.each(losses)('a job does its work once: losing the %s of its COMMIT', async (loss) => {
    const name = `job-${randomUUID()}`;
    wire.cutAt(new RegExp(`effect of ${name}`), /COMMIT/, loss);
    expect((await ask({ method: 'POST', path: '/blocks/b/add', json: { name } })).status).toBe(200);
    await expect.poll(() => stored(`effect of ${name}`)).toBe(1);
    expect(wire.hasCut()).toBe(true);
    const ofJob = async () =>
      (await database().knex('apps_jobs').where('data', 'like', `%${name}%`)).map(({ state }) => state);
    await expect.poll(ofJob).toEqual(['done']);
    expect(await stored(`effect of ${name}`)).toBe(1);
  });

  test.each(losses)('a repeated request gets the first answer: losing the %s of COMMIT', async (loss) => {
    const name = `keyed-${randomUUID()}`;
    const once = () =>
      ask({
        ...ways['an import']?.send(name),
        headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': `"${name}"` },
      });
    wire.cutAt(new RegExp(name), /COMMIT/, loss);
    const first = await once();
    expect(first.status, first.text).toBe(loss === 'statement' ? 503 : 201);
    expect((await once()).status).toBe(201);
    expect(await stored(name)).toBe(700);
  });
});
