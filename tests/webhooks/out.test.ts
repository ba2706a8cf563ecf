import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useStage, useThemes } from '../support/hooks';
import { hiddenField } from '../support/login';
import { timeForMore } from '../support/time';
import { type Delivery, useReceiver, verified } from './receiver';

const secret = `whsec_${randomBytes(24).toString('base64')}`;
const receiver = useReceiver();

const settings = () => `acl: { rights: { submitter: ['*'], editor: [editors] } }
webhooks:
  all: { url: '${receiver.url('/all')}', secret: partner }
  created: { url: '${receiver.url('/created')}', events: [create], secret: partner }
  urgent: { url: '${receiver.url('/urgent')}', block: ticket, query: "priority >= 3", secret: partner }
  message: { url: '${receiver.url('/message')}', body: ticket/message, events: [create, delete] }
  writes: { url: '${receiver.url('/writes')}', body: ticket/writes, events: [create] }
  fails: { url: '${receiver.url('/fails')}', events: [create], secret: partner, query: "title == 'fails'" }
  moved: { url: '${receiver.url('/moved')}', events: [create], secret: partner, query: "title == 'moved'" }
  elsewhere: { url: 'http://127.0.0.1:9/elsewhere', events: [create], query: "title == 'elsewhere'" }
  unsigned: { url: '${receiver.url('/unsigned')}', events: [create], secret: missing, query: "title == 'unsigned'" }
`;

const logic = `
export function many(context) {
  const { count } = context.request.body;
  for (let n = 0; n < count; n++) context.app.create_record().save({ title: 'many', n });
}
export function twice(context) {
  const record = context.app.create_record('twice');
  record.save({ title: 'first' });
  record.save({ title: 'second' });
  const gone = context.app.create_record('gone');
  gone.save({ title: 'gone' });
  context.app.delete_record('gone');
}
export function rolled_back(context) {
  context.app.create_record().save({ title: 'never' });
  throw new Error('no');
}
export function later(context) { context.jobs.add('ticket/make', { title: 'by a job' }); }
export function make(context) { context.app.create_record().save({ title: context.params.title }); }
export function message(context) {
  const { event, data } = context.params;
  if (data.items.title === 'quiet') return null;
  return { text: event + ' ' + data.items.title, params: context.params };
}
export function writes(context) {
  if (context.params.data.items.title === 'writes') context.app.create_record().save({ title: 'written' });
  return null;
}
`;

const themes = useThemes(async (copy) => {
  await copy.write('main/apps/desk/settings.yaml', settings());
  await copy.write(
    'main/apps/desk/blocks/ticket.yaml',
    'elements:\n  title: { type: TEXT, index_type: field }\n  priority: { type: NUMBER, index_type: field }\n  many: ACTION\n  twice: ACTION\n  rolled_back: ACTION\n  later: ACTION\n',
  );
  await copy.write('main/apps/desk/blocks/ticket.html', '{title}{priority}{_save}');
  await copy.write('main/apps/desk/blocks/ticket.js', logic);
});

const stage = useStage(() => ({
  themesDirectory: themes.directory,
  env: configured({
    apps: {
      fetch: {
        hosts: { desk: [receiver.host] },
        private: [receiver.host],
        secrets: {
          partner: { value: secret, hosts: [receiver.host] },
          chat: { value: 'a value that nobody may see', hosts: [receiver.host] },
        },
        timeout: 1_000,
        size: 20_000,
      },
      jobs: { backoff: 1, retries: 4 },
    },
  }),
}));

beforeEach(() => receiver.clear());

const arrived = async (path: string, count: number): Promise<Delivery[]> => {
  await expect.poll(() => receiver.at(path).length, { timeout: 60_000 }).toBeGreaterThanOrEqual(count);
  return receiver.at(path);
};

const create = async (items: object, id?: string) => {
  const line = id === undefined ? 'POST desk' : `PUT desk/record/${id}`;
  const answer = await stage.send<{ id: string }>({ as: 'mona', send: line, json: items });
  expect(answer.status, answer.text).toBe(201);
  return answer.json.id;
};

interface Job {
  name: string;
  state: string;
  status: number | null;
  answer: string | null;
  error: string | null;
  attempts: number;
}

/** The jobs of a webhook, the latest first. */
const jobs = (name: string): Promise<Job[]> =>
  stage.host.run(async (strapi, name) => {
    const rows = await strapi.db.connection('apps_jobs').where({ kind: 'webhook', name }).orderBy('id', 'desc');
    return rows;
  }, name) as Promise<Job[]>;

describe('a delivery', () => {
  test('says what has happened, and is signed', async () => {
    const id = await create({ title: 'Lamp', priority: 3, block: 'ticket' });
    const [delivery] = (await arrived('/created', 1)) as [Delivery];
    expect(delivery.headers['content-type']).toBe('application/json');
    const [stored] = await jobs('created');
    expect(delivery.headers['webhook-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(stored).toMatchObject({ state: 'done', status: 204 });
    verified(secret, delivery);
    expect(() => verified(secret, { ...delivery, text: `${delivery.text} ` })).toThrow();
    const path = `${stage.host.url}/site/@@apps/desk/record/${id}`;
    const items = { title: 'Lamp', priority: 3, block: 'ticket', id };
    const { timestamp, ...rest } = delivery.json;
    expect(rest).toEqual({
      type: 'apps.record.create',
      data: { site: 'site', app: 'desk', block: 'ticket', id, path, items },
    });
    expect(Math.abs(Date.parse(timestamp ?? '') - Date.now())).toBeLessThan(60_000);
  });

  test('of each change of a record comes in their order', async () => {
    await create({ title: 'Chair' }, 'chair');
    await stage.send({ as: 'mona', send: 'PATCH desk/record/chair', json: { title: 'Armchair' } });
    await stage.send({ as: 'mona', send: 'PATCH desk/record/chair', json: { title: 'Sofa' } });
    await stage.send({ as: 'mona', send: 'DELETE desk/record/chair' });
    const all = await arrived('/all', 4);
    expect(all.map(({ json }) => [json.type, json.data?.items.title])).toEqual([
      ['apps.record.create', 'Chair'],
      ['apps.record.update', 'Armchair'],
      ['apps.record.update', 'Sofa'],
      ['apps.record.delete', 'Sofa'],
    ]);
    for (const one of all) verified(secret, one);
  });

  test('is only about records of the block that match the query', async () => {
    await create({ title: 'a', priority: 1, block: 'ticket' }, 'a');
    await create({ title: 'b', priority: 5 }, 'b');
    await create({ title: 'c', priority: 5, block: 'ticket' }, 'c');
    // As it is after a change, and before a deletion.
    await stage.send({ as: 'mona', send: 'PATCH desk/record/a', json: { priority: 4 } });
    await stage.send({ as: 'mona', send: 'PATCH desk/record/c', json: { priority: 2 } });
    await stage.send({ as: 'mona', send: 'DELETE desk/record/c' });
    await stage.send({ as: 'mona', send: 'DELETE desk/record/a' });
    await arrived('/all', 7);
    await timeForMore();
    expect(receiver.at('/urgent').map(({ json }) => [json.type, json.data?.id])).toEqual([
      ['apps.record.create', 'c'],
      ['apps.record.update', 'a'],
      ['apps.record.delete', 'a'],
    ]);
  });

  test('has the body that a function makes of the change; without a secret it is not signed', async () => {
    await create({ title: 'quiet' });
    const id = await create({ title: 'loud' });
    const [delivery] = (await arrived('/message', 1)) as [Delivery];
    expect(delivery.json).toMatchObject({
      text: 'create loud',
      params: {
        webhook: 'message',
        event: 'create',
        type: 'apps.record.create',
        data: { id, items: { title: 'loud' } },
      },
    });
    expect(delivery.headers).not.toHaveProperty('webhook-signature');
    await timeForMore();
    expect(receiver.at('/message')).toHaveLength(1);
  });

  test('comes once for all that one request does to a record', async () => {
    await stage.send({ as: 'mona', send: 'POST desk/blocks/ticket/twice', json: {} });
    await arrived('/all', 1);
    await timeForMore();
    expect(receiver.at('/all').map(({ json }) => [json.type, json.data?.items.title])).toEqual([
      ['apps.record.create', 'second'],
    ]);
  });

  test('is sent as it is stored: no secret is put into what visitors have entered', async () => {
    await create({ title: '{{secret:chat}}' });
    const [delivery] = (await arrived('/created', 1)) as [Delivery];
    expect(delivery.json.data?.items.title).toBe('{{secret:chat}}');
    verified(secret, delivery);
  });
});

describe('each way in', () => {
  const titles = (path: string) => receiver.at(path).map(({ json }) => json.data?.items.title);

  test('a form', async () => {
    const page = await stage.send({ send: 'GET desk/blocks/ticket', accept: 'text/html' });
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const form = {
      ...{ title: 'by a form', priority: '1', _save: '1' },
      ...{ _csrf: hiddenField(page.text, '_csrf'), _shown: hiddenField(page.text, '_shown') },
    };
    const answer = await stage.send({ send: 'POST desk/blocks/ticket', form, accept: 'text/html', csrf: false });
    expect(answer.status, answer.text).toBe(303);
    await arrived('/created', 1);
    expect(titles('/created')).toEqual(['by a form']);
  });

  test.each([
    ['an array', { json: Array.from({ length: 3 }, (_, n) => ({ title: 'bulk', n })) }, 3],
    ['with blocks', { json: Array.from({ length: 3 }, (_, n) => ({ title: 'bulk', n, block: 'ticket' })) }, 3],
    ['NDJSON', { body: lines(230), headers: { 'content-type': 'application/x-ndjson' } }, 230],
    ['NDJSON with blocks', { body: lines(60, 'ticket'), headers: { 'content-type': 'application/x-ndjson' } }, 60],
  ])('a bulk creation: %s', async (_, body, count) => {
    const answer = await stage.send({ as: 'mona', send: 'POST desk/records', ...body });
    expect(answer.status, answer.text).toBe(201);
    const all = await arrived('/created', count);
    expect(all.map(({ json }) => json.data?.items.n).sort((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: count }, (_, n) => n),
    );
    expect(new Set(all.map(({ headers }) => headers['webhook-id'])).size).toBe(count);
  });

  test('logic, many records at once', async () => {
    await stage.send({ as: 'mona', send: 'POST desk/blocks/ticket/many', json: { count: 70 } });
    await arrived('/created', 70);
    await timeForMore();
    expect(receiver.at('/created')).toHaveLength(70);
  });

  test('a job', async () => {
    const answer = await stage.send({ as: 'mona', send: 'POST desk/blocks/ticket/later', json: {} });
    expect(answer.status, answer.text).toBe(200);
    await arrived('/created', 1);
    expect(titles('/created')).toEqual(['by a job']);
  });

  test('the panel', async () => {
    const panel = '/apps/sites/site/apps/desk';
    const json = { id: 'panel', items: { title: 'by the panel' } };
    const made = await stage.send({ as: 'root', send: `POST ${panel}/record`, json });
    expect(made.status, made.text).toBe(201);
    const read = await stage.send<{ version: string }>({ as: 'root', send: `GET ${panel}/record?id=panel` });
    const change = { items: { title: 'changed' }, version: read.json.version };
    await stage.send({ as: 'root', send: `PUT ${panel}/record?id=panel`, json: change });
    await stage.send({ as: 'root', send: `POST ${panel}/records/delete`, json: { ids: ['panel'] } });
    const all = await arrived('/all', 3);
    expect(all.map(({ json }) => json.type?.slice('apps.record.'.length))).toEqual(['create', 'update', 'delete']);
  });

  test('an import in the panel', async () => {
    const options = JSON.stringify({ name: 'x.csv', mapping: {} });
    const part = (name: string, text: string) => `--b\r\nContent-Disposition: form-data; ${name}\r\n\r\n${text}\r\n`;
    const answer = await stage.send({
      ...{ as: 'root', send: 'POST /apps/sites/site/apps/desk/records/import' },
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      body: `${part('name="options"', options)}${part('name="files"; filename="x"\r\nContent-Type: text/csv', 'title\nimported\nimported')}--b--\r\n`,
    });
    expect(answer.status, answer.text).toBe(202);
    await arrived('/created', 2);
    expect(titles('/created')).toEqual(['imported', 'imported']);
  });

  test('code of the host', async () => {
    await stage.host.run((strapi) =>
      strapi
        .plugin('apps')
        .service('apps')
        .call('desk/ticket/make', { params: { title: 'by code' } }),
    );
    await arrived('/created', 1);
    expect(titles('/created')).toEqual(['by code']);
  });

  test('the deletion of all records', async () => {
    await create({ title: 'x' });
    const { json } = await stage.send<object[]>({ as: 'mona', send: 'GET desk/records' });
    await arrived('/created', 1);
    receiver.clear();
    expect((await stage.send({ as: 'mona', send: 'DELETE desk/records' })).status).toBe(200);
    const deleted = await arrived('/all', json.length);
    expect(deleted.every(({ json }) => json.type === 'apps.record.delete')).toBe(true);
    expect(deleted).toHaveLength(json.length);
  });

  test('not what was rolled back', async () => {
    const answer = await stage.send({ as: 'mona', send: 'POST desk/blocks/ticket/rolled_back', json: {} });
    expect(answer.status).toBe(500);
    const taken = await stage.send({ as: 'mona', send: 'POST desk/records', json: [{ id: 'p' }, { id: 'p' }] });
    expect(taken.status).toBe(409);
    await create({ title: 'after it' });
    await arrived('/created', 1);
    await timeForMore();
    expect(titles('/created')).toEqual(['after it']);
  });
});

describe('a receiver that fails', () => {
  test('gets the same webhook again, with its id, until it answers well', async () => {
    receiver.answers(
      '/fails',
      { status: 500, text: `down ${secret}` },
      { status: 429 },
      (response) => void response.destroy(),
    );
    await create({ title: 'fails' });
    const tries = await arrived('/fails', 4);
    expect(new Set(tries.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(tries.map(({ text }) => text)).size).toBe(1);
    for (const one of tries) verified(secret, one);
    await expect.poll(async () => (await jobs('fails'))[0]?.state).toBe('done');
    expect(await stage.host.printed()).not.toContain(secret.slice(6));
  });

  test('is given up after its tries, with the status and the answer', async () => {
    const text = `<b>${'x'.repeat(3_000)}`;
    receiver.answers('/fails', ...Array.from({ length: 5 }, () => ({ status: 503, text })));
    await create({ title: 'fails' });
    await expect.poll(async () => (await jobs('fails'))[0]?.state, { timeout: 40_000 }).toBe('dead');
    const [job] = await jobs('fails');
    expect(job).toMatchObject({ status: 503, answer: text.slice(0, 1_000), attempts: 5 });
    expect(job?.error).toContain('has answered 503');
  }, 60_000);

  test.each<[string, Parameters<typeof receiver.answers>[1], RegExp]>([
    ['hangs', () => undefined, /GatewayTimeoutError/],
    ['answers without end', (response) => endless(response), /Error/],
    ['redirects', { status: 307, headers: { location: '/created' } }, /has answered 307/],
    ['breaks off', (response) => void response.socket?.destroy(), /BadGatewayError/],
  ])('is called again when it %s', async (_, reply, reason) => {
    receiver.answers('/fails', reply);
    await create({ title: 'fails' });
    await expect.poll(async () => (await jobs('fails'))[0]?.error ?? '', { timeout: 10_000 }).toMatch(reason);
    await arrived('/fails', 2);
    await expect.poll(async () => (await jobs('fails'))[0]?.state).toBe('done');
    expect(receiver.at('/created').map(({ json }) => json.data?.items.title)).toEqual(['fails']);
  });

  test('is not called again when it is gone', async () => {
    receiver.answers('/fails', { status: 410, text: 'gone' });
    await create({ title: 'fails' });
    await expect.poll(async () => (await jobs('fails'))[0]?.state).toBe('dead');
    expect((await jobs('fails'))[0]).toMatchObject({ status: 410, answer: 'gone', attempts: 1 });
  });

  test('does not hold up other webhooks, and not the request', async () => {
    receiver.answers('/fails', () => undefined);
    await create({ title: 'fails' });
    await arrived('/created', 1);
    await create({ title: 'other' });
    await arrived('/created', 2);
  });
});

describe('a webhook that cannot be sent', () => {
  test('to a host that the configuration does not name, says so', async () => {
    await create({ title: 'elsewhere' });
    await expect.poll(async () => (await jobs('elsewhere'))[0]?.state).toBe('dead');
    const [job] = await jobs('elsewhere');
    expect(job?.error).toContain('fetch.hosts.desk');
    expect(job?.attempts).toBe(1);
  });

  test('without its secret, waits and says so', async () => {
    await create({ title: 'unsigned' });
    await expect.poll(async () => (await jobs('unsigned'))[0]?.error ?? '').toContain('fetch.secrets.missing.value');
    expect(receiver.at('/unsigned')).toEqual([]);
  });

  test('because its function writes, writes nothing', async () => {
    await create({ title: 'writes' });
    await expect.poll(async () => (await jobs('writes'))[0]?.error ?? '').toContain('CsrfError');
    const { json } = await stage.send<{ items: { title?: string } }[]>({ as: 'mona', send: 'GET desk/records' });
    expect(json.filter(({ items }) => items.title === 'written')).toEqual([]);
  });
});

describe("Strapi's own webhooks", () => {
  const events = ['apps.record.create', 'apps.record.update', 'apps.record.delete'];

  test('have the events of records', async () => {
    const json = { name: 'records', url: receiver.url('/strapi'), headers: {}, events };
    const made = await stage.send({ as: 'root', send: 'POST /admin/webhooks', json });
    expect(made.status, made.text).toBe(201);
    const wrong = { ...json, events: ['apps.record.read'] };
    expect((await stage.send({ as: 'root', send: 'POST /admin/webhooks', json: wrong })).status).toBe(400);
    await create({ title: 'Bed' }, 'bed');
    await stage.send({ as: 'mona', send: 'PATCH desk/record/bed', json: { title: 'Cot' } });
    await stage.send({ as: 'mona', send: 'DELETE desk/record/bed' });
    const all = await arrived('/strapi', 3);
    expect(all.map(({ json }) => [json.event, json.id, (json.items as { title: string }).title])).toEqual([
      ['apps.record.create', 'bed', 'Bed'],
      ['apps.record.update', 'bed', 'Cot'],
      ['apps.record.delete', 'bed', 'Cot'],
    ]);
    const bulk = Array.from({ length: 3 }, (_, n) => ({ title: 'bulk', n }));
    await stage.send({ as: 'mona', send: 'POST desk/records', json: bulk });
    await arrived('/strapi', 6);
    const { json: stored } = await stage.send<object[]>({ as: 'mona', send: 'GET desk/records' });
    await stage.send({ as: 'mona', send: 'DELETE desk/records' });
    const deleted = (await arrived('/strapi', 6 + stored.length)).filter(({ json }) => json.event === events[2]);
    expect(deleted).toHaveLength(1 + stored.length);
  });

  test('get nothing of what is rolled back', async () => {
    await stage.send({ as: 'mona', send: 'POST desk/blocks/ticket/rolled_back', json: {} });
    await create({ title: 'after it' });
    const [first] = await arrived('/strapi', 1);
    expect(first?.json.items).toMatchObject({ title: 'after it' });
  });
});

test('settings show webhooks to managers alone', async () => {
  expect((await stage.send({ send: 'GET desk' })).text).not.toContain('webhooks');
  expect((await stage.send({ as: 'mona', send: 'GET desk' })).text).toContain('/urgent');
});

function lines(count: number, block?: string): string {
  return Array.from({ length: count }, (_, n) => JSON.stringify({ title: 'bulk', n, ...(block && { block }) })).join(
    '\n',
  );
}

/** Sends an answer that has no end. */
function endless(response: import('node:http').ServerResponse): void {
  response.writeHead(200);
  const more = () => {
    if (response.destroyed) return;
    response.write('x'.repeat(10_000));
    setTimeout(more, 5);
  };
  more();
}
