import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useStage, useThemes } from '../support/hooks';
import { cookieOf, logIn } from '../support/login';
import type { RowRequest } from '../support/stage';

const secret = `whsec_${randomBytes(24).toString('base64')}`;
const older = `whsec_${randomBytes(24).toString('base64')}`;

const definition = `elements:
  shown: BASIC
  event: { type: ACTION, verify: { secret: partner } }
  data: { type: BASIC, verify: { secret: partner } }
  push: { type: ACTION, verify: { secret: code, header: X-Hub-Signature-256, prefix: 'sha256=' } }
  missing: { type: ACTION, verify: { secret: nothing } }
  empty: { type: ACTION, verify: { secret: empty } }
  broken: { type: ACTION, verify: { secret: text } }
  press: { type: ACTION }
`;

const logic = `
function note(context, element) {
  const { body, form } = context.request;
  context.app.create_record().save({ element, body, form, by: context.app.acl.current_user() });
  return { noted: element, count: context.app.search('element == name', { names: { name: element } }).length };
}
export const event = (context) => note(context, 'event');
export const data = (context) => note(context, 'data');
export const push = (context) => note(context, 'push');
export const missing = (context) => note(context, 'missing');
export const empty = (context) => note(context, 'empty');
export const broken = (context) => note(context, 'broken');
export const press = (context) => note(context, 'press');
export const shown = () => 'shown';
`;

const themes = useThemes({
  'main/apps/hooks/settings.yaml': "acl: { rights: { submitter: ['*'] } }\n",
  'main/apps/hooks/blocks/in.yaml': definition,
  'main/apps/hooks/blocks/in.js': logic,
  'main/apps/hooks/blocks/in.html': '<p>{shown}|{event}|{data}|{press}</p>{_save}',
  'main/apps/hooks/blocks/notes.yaml': 'elements:\n  element: { type: TEXT, index_type: field }\n',
  'main/apps/hooks/blocks/closed.yaml':
    'view_permission: [editors]\nelements:\n  event: { type: ACTION, verify: { secret: partner } }\n',
  'main/apps/hooks/blocks/closed.js': logic,
});

const stage = useStage(() => ({
  themesDirectory: themes.directory,
  env: configured({
    apps: {
      fetch: {
        secrets: {
          partner: { value: secret, hosts: [] },
          code: { value: 'it is a secret', hosts: [] },
          empty: { value: '', hosts: [] },
          text: { value: 'whsec_no base64!', hosts: [] },
        },
      },
      limits: { bodySize: 20_000 },
    },
  }),
}));

type Headers = Record<string, string>;

/** The headers of a message that the library has signed. */
function signed(body: string, { id = `msg_${randomUUID()}`, at = Date.now(), by = secret } = {}): Headers {
  const time = new Date(at);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': new Webhook(by).sign(id, time, body),
  };
}

const json = { 'content-type': 'application/json' };
const hex = (body: string, key = 'it is a secret') => createHmac('sha256', key).update(body).digest('hex');
const hub = (body: string): Headers => ({ 'x-hub-signature-256': `sha256=${hex(body)}` });

const post = (body: string, headers: Headers, row: Partial<RowRequest> = {}) =>
  stage.send<{ noted?: string; count?: number; error?: { name: string; message: string } }>({
    send: 'POST hooks/blocks/in/event',
    csrf: false,
    body,
    headers: { ...json, ...headers },
    ...row,
  });

const records = async (element: string): Promise<Record<string, unknown>[]> => {
  const { json } = await stage.send<{ items: Record<string, unknown> }[]>({ as: 'mona', send: 'GET hooks/records' });
  return json.map(({ items }) => items).filter((items) => items.element === element);
};

describe('a signed webhook', () => {
  test.each<[string, string, Headers, Partial<RowRequest>, Record<string, unknown>]>([
    ['runs the function', '{"a":1}', {}, {}, { element: 'event', body: { a: 1 }, by: null }],
    ['may be a list', '[1,2]', {}, {}, { element: 'event', body: [1, 2] }],
    ['may be of any spelling', ' {"ü" : "\\u00fc",  "n":1.50}', {}, {}, { element: 'event', body: { ü: 'ü', n: 1.5 } }],
    [
      'may be a form',
      'a=1&b=x+y',
      { 'content-type': 'application/x-www-form-urlencoded' },
      {},
      { form: { a: '1', b: 'x y' } },
    ],
    ['may be empty', '', {}, {}, { element: 'event', body: {} }],
    ['may be for a BASIC', '{"b":2}', {}, { send: 'POST hooks/blocks/in/data' }, { element: 'data', body: { b: 2 } }],
  ])('%s', async (_, body, headers, row, expected) => {
    const answer = await post(body, { ...signed(body), ...headers }, row);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers['content-type']).toContain('application/json');
    const noted = await records(String(expected.element ?? 'event'));
    expect(noted.at(-1)).toMatchObject(expected);
  });

  test('of another sender: a digest in a header', async () => {
    const body = '{"zen":"Design for failure."}';
    const answer = await post(body, hub(body), { send: 'POST hooks/blocks/in/push' });
    expect(answer.status, answer.text).toBe(200);
    const form = 'payload=%7B%7D';
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await post(form, { ...hub(form), ...type }, { send: 'POST hooks/blocks/in/push' })).status).toBe(200);
    const upper = { 'x-hub-signature-256': `sha256=${hex(body).toUpperCase()}` };
    expect((await post(body, upper, { send: 'POST hooks/blocks/in/push' })).status).toBe(200);
  });

  test('has one right signature among several, while the sender changes its secret', async () => {
    const headers = signed('{}');
    const both = `${signed('{}', { by: older })['webhook-signature']} ${headers['webhook-signature']}`;
    expect((await post('{}', { ...headers, 'webhook-signature': both })).status).toBe(200);
  });

  test('has the rights of its credentials', async () => {
    const row = { as: 'eric', send: 'POST hooks/blocks/closed/event' };
    expect((await post('{}', signed('{}'), row)).status).toBe(200);
    expect((await records('event')).at(-1)).toMatchObject({ by: 'eric' });
    expect((await post('{}', signed('{}'), { send: row.send })).status).toBe(401);
    const bad = await post('{}', { ...signed('{}'), authorization: 'Bearer nonsense' });
    expect(bad.status).toBe(401);
  });

  test('is of anonymous, whatever session the browser has that brings it', async () => {
    const eric = await stage.user('eric');
    const session = cookieOf(await logIn(stage.host.url, { name: eric.username, password: eric.password }));
    const page = await stage.send({ send: 'GET hooks/blocks/closed/event', headers: { cookie: session } });
    expect([session === '', page.status]).toEqual([false, 405]);
    expect((await post('{}', { ...signed('{}'), cookie: session })).status).toBe(200);
    expect((await records('event')).at(-1)).toMatchObject({ by: null });
    const send = 'POST hooks/blocks/closed/event';
    expect((await post('{}', { ...signed('{}'), cookie: session }, { send })).status).toBe(401);
  });

  test('that comes again is answered as the first one, and runs once', async () => {
    const before = (await records('event')).length;
    const id = `msg_${randomUUID()}`;
    const first = await post('{"n":1}', signed('{"n":1}', { id }));
    expect(first.status).toBe(200);
    // A later try has another time, and its body may differ.
    const again = await post('{"n":2}', signed('{"n":2}', { id, at: Date.now() - 5_000 }));
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(await records('event')).toHaveLength(before + 1);
    // The id belongs to the address.
    const other = await post('{}', signed('{}', { id }), { send: 'POST hooks/blocks/in/data' });
    expect(other.json).toMatchObject({ noted: 'data' });
  });

  test('that comes twice at once runs once', async () => {
    const before = (await records('event')).length;
    const headers = signed('{}');
    const answers = await Promise.all(Array.from({ length: 8 }, () => post('{}', headers)));
    const statuses = [...new Set(answers.map(({ status }) => status))];
    expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
    expect(await records('event')).toHaveLength(before + 1);
    expect((await post('{}', headers)).status).toBe(200);
  });
});

describe('is refused', () => {
  const body = '{"a":1}';
  const edited = (change: Headers): Headers => ({ ...signed(body), ...change });

  test.each<[string, () => Headers, number, Partial<RowRequest>?]>([
    ['without a signature', () => ({}), 401],
    ['without an id', () => ({ ...signed(body), 'webhook-id': '' }), 401],
    ['with an old time', () => signed(body, { at: Date.now() - 301_000 }), 401],
    ['with a time in the future', () => signed(body, { at: Date.now() + 310_000 }), 401],
    ['with another time', () => edited({ 'webhook-timestamp': String(Math.floor(Date.now() / 1000) - 60) }), 401],
    ['with another id', () => edited({ 'webhook-id': 'msg_other' }), 401],
    ['with another secret', () => signed(body, { by: older }), 401],
    ['with a signature of another body', () => signed('{"a":2}'), 401],
    ['with the same JSON in another spelling', () => signed('{"a": 1}'), 401],
    ['with an empty signature', () => edited({ 'webhook-signature': 'v1,' }), 401],
    ['with the signature of the other kind', () => hub(body), 401],
    ['for the other kind', () => signed(body), 401, { send: 'POST hooks/blocks/in/push' }],
    [
      'with a wrong prefix',
      () => ({ 'x-hub-signature-256': `sha1=${hex(body)}` }),
      401,
      { send: 'POST hooks/blocks/in/push' },
    ],
    ['without a prefix', () => ({ 'x-hub-signature-256': hex(body) }), 401, { send: 'POST hooks/blocks/in/push' }],
    [
      'signed with nothing',
      () => ({ 'x-hub-signature-256': `sha256=${hex(body, '')}` }),
      401,
      { send: 'POST hooks/blocks/in/push' },
    ],
    ['packed', () => ({ ...signed(body), 'content-encoding': 'gzip' }), 415, { body: gzipSync(body) }],
    ['as a text', () => ({ ...signed(body), 'content-type': 'text/plain' }), 415],
    ['as NDJSON', () => ({ ...signed(body), 'content-type': 'application/x-ndjson' }), 415],
    [
      'as a form with parts',
      () => ({ ...signed(body), 'content-type': 'multipart/form-data; boundary=x' }),
      415,
      { body: '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n' },
    ],
    ['by GET', () => signed(''), 405, { send: 'GET hooks/blocks/in/event', body: undefined }],
    ['by HEAD', () => signed(''), 405, { send: 'HEAD hooks/blocks/in/event', body: undefined }],
    ['by PUT', () => signed(body), 405, { send: 'PUT hooks/blocks/in/event' }],
    ['as a page', () => ({ accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }), 401],
  ])('%s', async (_, headers, status, row = {}) => {
    const before = (await records('event')).length + (await records('push')).length;
    const answer = await post(body, headers(), row);
    expect(answer.status, answer.text).toBe(status);
    expect(answer.text).not.toContain(secret.slice(6));
    expect((await records('event')).length + (await records('push')).length).toBe(before);
  });

  test('with a CSRF token instead of a signature, by any client that has one', async () => {
    for (const as of ['anonymous', 'mona', 'root'])
      expect((await post(body, {}, { as, csrf: true })).status, as).toBe(401);
  });

  test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('with %s twice', async (name) => {
    const headers = signed(body);
    const twice = { ...headers, [name]: [headers[name], headers[name]] } as unknown as Headers;
    expect((await post(body, twice)).status).toBe(401);
  });

  test('where the body is too large', async () => {
    const large = JSON.stringify({ text: 'x'.repeat(30_000) });
    expect((await post(large, signed(large))).status).toBe(413);
  });

  test.each([
    ['missing', 'nothing', 'is missing'],
    ['empty', 'empty', 'is missing'],
    ['broken', 'text', 'must be base64'],
  ])('with a reason in the log, where the secret is %s', async (element, name, lack) => {
    const answer = await post(body, signed(body, { by: 'whsec_YQ==' }), { send: `POST hooks/blocks/in/${element}` });
    expect([answer.status, answer.json.error?.name]).toEqual([503, 'ServiceUnavailableError']);
    expect(answer.headers['retry-after']).toBe('60');
    const line = `[apps] site/hooks/blocks/in/${element} refuses webhooks: the secret fetch.secrets.${name}.value ${lack}`;
    expect(await stage.host.printed()).toContain(line);
    expect(await records(element)).toEqual([]);
  });
});

describe('an element with verify', () => {
  test('is not shown by its block, and no form presses it', async () => {
    const page = await stage.send({ send: 'GET hooks/blocks/in', accept: 'text/html' });
    expect(page.text).toContain('shown|');
    expect(page.text).toContain('action.press');
    expect(page.text).not.toContain('action.event');
    expect(await records('data')).not.toContainEqual(expect.objectContaining({ body: null }));
    const before = (await records('event')).length;
    const pressed = await stage.send({
      send: 'POST hooks/blocks/in',
      form: { 'action.event': '1' },
      accept: 'text/html',
    });
    expect(pressed.status).not.toBe(200);
    expect(await records('event')).toHaveLength(before);
  });

  test('changes nothing for others: they need a token, whatever is signed', async () => {
    const send = 'POST hooks/blocks/in/press';
    const signedPress = await post('{}', signed('{}'), { send });
    expect([signedPress.status, signedPress.json.error?.name]).toEqual([403, 'CsrfError']);
    expect((await post('{}', {}, { send, csrf: true })).status).toBe(200);
  });

  test('is described', async () => {
    const answer = await stage.send<{ paths: Record<string, Record<string, Description>> }>({
      as: 'mona',
      send: 'GET hooks/openapi.json',
    });
    expect(answer.status, answer.text).toBe(200);
    const { json } = answer;
    const at = Object.entries(json.paths).find(([path]) => path.endsWith('/hooks/blocks/in/event'))?.[1] ?? {};
    expect(Object.keys(at)).toEqual(['post']);
    expect(at.post?.security).toEqual([{}, { bearer: [] }, { basic: [] }]);
    const names = at.post?.parameters?.map(({ name }) => name);
    expect(names).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-signature']);
    expect(at.post?.responses).toHaveProperty('401');
    const push = Object.entries(json.paths).find(([path]) => path.endsWith('/hooks/blocks/in/push'))?.[1]?.post;
    expect(push?.parameters?.map(({ name }) => name)).toEqual(['x-hub-signature-256', 'webhook-id']);
  });
});

interface Description {
  security?: object[];
  parameters?: { name?: string }[];
  responses?: object;
}
