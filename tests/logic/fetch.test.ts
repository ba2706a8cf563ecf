import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ListedJob } from '../../plugins/apps/server/src/jobs/types';
import type { RunAgain, RunDetail, RunsPage } from '../../plugins/apps/shared/admin/runs';
import { configured } from '../support/configure';
import { type Asked, useService, useStage, useThemes } from '../support/hooks';
import { html } from '../support/stage';
import { timeForMore } from '../support/time';

/** context.fetch (docs/reference/calls-out.md), in JavaScript and in Python. */

const secret = 'a/secret+of=the"service';

const javascript = (origin: string) => `
const at = (context) => '${origin}' + (context.request.query.to ?? '/');
export function read(context) {
  const { status, ok, headers, text, json } = context.fetch(at(context));
  return { status, ok, type: headers['content-type'] ?? null, text, json };
}
export function send(context) {
  const headers = { authorization: 'Bearer {{secret:key}}', 'x-own': 'own' };
  return context.fetch(at(context), { method: 'POST', headers, body: { a: [1, 'ü'], key: '{{secret:key}}' }, timeout: 3000 }).text;
}
export function caught(context) {
  try {
    return context.fetch(context.request.query.url).text;
  } catch (error) {
    return error.name + ': ' + error.message;
  }
}
export function options(context) {
  context.fetch(at(context), { methd: 'POST' });
}
export function many(context) {
  for (let count = 0; count < 21; count += 1) context.fetch(at(context) + count);
}
export function add(context) {
  const record = context.app.get_record('total') ?? context.app.create_record('total');
  const before = record.get('count') ?? 0;
  const answers = ['a', 'b', 'b'].map((name) => context.fetch('${origin}/' + name, { method: 'POST', body: 'x' }).text);
  record.set('count', before + 1);
  record.set('answers', answers.join());
}
export function echo(context) {
  context.fetch('${origin}/echo', { method: 'POST', headers: { 'x-key': '{{secret:key}}' }, body: context.request.get('text') });
}
export function later(context) {
  const { url, fail } = context.request.body;
  const headers = { authorization: '{{secret:key}}' };
  const id = context.jobs.fetch(url, { method: 'PUT', headers, body: { key: '{{secret:key}}' } });
  if (fail) throw new Error('after all');
  return id;
}
export function fails(context) {
  context.fetch('${origin}/', { method: 'POST' });
  throw new Error('not yet');
}
`;

const python = (origin: string) => `
def at(context):
    return '${origin}' + context.request.query.get('to', '/')

def read(context):
    answer = context.fetch(at(context))
    found = {'status': answer.status, 'ok': answer.ok, 'type': answer.headers.get('content-type')}
    found.update({'text': answer.text, 'json': answer.json})
    return found

def send(context):
    headers = {'authorization': 'Bearer {{secret:key}}', 'x-own': 'own'}
    body = {'a': [1, 'ü'], 'key': '{{secret:key}}'}
    return context.fetch(at(context), method='POST', headers=headers, body=body, timeout=3000).text

def caught(context):
    try:
        return context.fetch(context.request.query['url']).text
    except Exception as error:
        return type(error).__name__ + ': ' + str(error)

def options(context):
    context.fetch(at(context), {'methd': 'POST'})

def many(context):
    for count in range(21):
        context.fetch(at(context) + str(count))

def add(context):
    record = context.app.get_record('total') or context.app.create_record('total')
    before = record.get('count', 0)
    answers = [context.fetch('${origin}/' + name, method='POST', body='x').text for name in ('a', 'b', 'b')]
    record['count'] = before + 1
    record['answers'] = ','.join(answers)

def echo(context):
    context.fetch('${origin}/echo', method='POST', headers={'x-key': '{{secret:key}}'}, body=context.request.get('text'))

def later(context):
    request = context.request.body
    headers = {'authorization': '{{secret:key}}'}
    id = context.jobs.fetch(request['url'], method='PUT', headers=headers, body={'key': '{{secret:key}}'})
    if request.get('fail'):
        raise Exception('after all')
    return id

def fails(context):
    context.fetch('${origin}/', method='POST')
    raise Exception('not yet')
`;

const definition = `elements:
  read: BASIC
  send: BASIC
  caught: BASIC
  options: BASIC
  many: BASIC
  later: BASIC
  add: { type: ACTION, label: Add }
  echo: { type: ACTION, label: Echo }
  fails: { type: ACTION, label: Fail }
  text: TEXT
`;

const service = useService();
const themes = useThemes(async (themes) => {
  for (const [language, ending, logic] of [
    ['javascript', 'js', javascript],
    ['python', 'py', python],
  ] as const) {
    const app = `main/apps/calls-${language}`;
    await themes.write(`${app}/settings.yaml`, "debug: true\nacl:\n  rights:\n    author: ['*']\n    reader: ['*']\n");
    await themes.write(`${app}/blocks/b.yaml`, definition);
    await themes.write(`${app}/blocks/b.html`, '{add}{echo}{fails}{text}');
    await themes.write(`${app}/blocks/b.${ending}`, logic(service.origin));
    await themes.write(`${app}/blocks/page.yaml`, 'elements:\n  read: BASIC\n');
    await themes.write(`${app}/blocks/page.html`, '<p>{{ elements.read.text }}</p>{read}');
    await themes.write(`${app}/blocks/page.${ending}`, logic(service.origin));
  }
});
const stage = useStage(() => ({
  themesDirectory: themes.directory,
  env: configured({
    apps: {
      limits: { logicTime: 3000 },
      jobs: { backoff: 1 },
      fetch: {
        hosts: { 'calls-javascript': [service.host], 'calls-python': [service.host], '*': ['127.0.0.1:443'] },
        private: [service.host],
        secrets: { key: { value: secret, hosts: [service.host] } },
        timeout: 6000,
        size: 10_000,
      },
    },
  }),
}));

beforeEach(() => {
  service.asked.length = 0;
  service.answer = (_asked, response) => response.end();
});

const caughtOf = async (app: string, url: string) =>
  (await stage.send({ send: `GET ${app}/blocks/b/caught?url=${encodeURIComponent(url)}` })).json;

describe.each(['calls-javascript', 'calls-python'])('%s', (app) => {
  const element = (name: string, query = '') => stage.send({ send: `GET ${app}/blocks/b/${name}${query}` });
  const act = (name: string, form = {}) =>
    stage.send({ send: `POST ${app}/blocks/b`, accept: html, form: { [`action.${name}`]: name, ...form } });

  test('an answer has status, headers, text and JSON', async () => {
    service.answer = (_asked, response) => {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"why":["ü",null]}');
    };
    const { json } = await element('read', '?to=/a%3Fb');
    const text = '{"why":["ü",null]}';
    expect(json).toEqual({ status: 404, ok: false, type: 'application/json', text, json: { why: ['ü', null] } });
    expect(service.asked).toMatchObject([{ method: 'GET', url: '/a?b', body: '' }]);
  });

  test.each(['', 'no JSON', '{"half":'])('json is null for %j', async (text) => {
    service.answer = (_asked, response) => response.end(text);
    expect((await element('read')).json).toEqual({ status: 200, ok: true, type: null, text, json: null });
  });

  test('an object is sent as JSON with secrets, which the answer cannot show', async () => {
    service.answer = ({ body, headers }, response) =>
      response.end(`${body} ${headers.authorization} ${btoa(`u:${secret}`)}`);
    const { json } = await element('send');
    expect(json).toMatch(/^\{"a":\[1,"ü"\],"key":"\(hidden\)"\} Bearer \(hidden\) \S*\(hidden\)\S*$/);
    const [{ headers, body } = {} as Asked] = service.asked;
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-own': 'own',
      authorization: `Bearer ${secret}`,
    });
    expect(JSON.parse(body)).toEqual({ a: [1, 'ü'], key: secret });
  });

  test.each([
    [
      'https://other.example/',
      'ForbiddenError: The configuration "fetch.hosts.{app}" does not name "other.example:443"',
    ],
    ['https://127.0.0.1/', 'ForbiddenError: The configuration "fetch.private" does not name this host and port'],
    ['ftp://127.0.0.1/', 'BadRequestError: The call is wrong'],
    ['{origin}/large', 'PayloadTooLargeError: The answer to the call is larger than 10000 bytes'],
    ['{origin}/closed', 'BadGatewayError: The host that was called did not answer well: it closed the connection'],
    [
      '{origin}/redirect',
      'ForbiddenError: The configuration "fetch.hosts.{app}" does not name the host that the answer',
    ],
  ])('logic can catch the error of %s', async (url, message) => {
    service.answer = (asked, response) => {
      if (asked.url === '/large') response.end('a'.repeat(10_001));
      else if (asked.url === '/closed') response.destroy();
      else response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    };
    expect(await caughtOf(app, url.replace('{origin}', service.origin))).toContain(message.replace('{app}', app));
  });

  test('an error that logic does not catch is the answer: 502 of the host, 500 of a wrong call', async () => {
    service.answer = (_asked, response) => response.destroy();
    const failed = await element('read');
    expect([failed.status, failed.json]).toMatchObject([502, { error: { name: 'BadGatewayError' } }]);
    const wrong = await element('options');
    expect([wrong.status, wrong.text]).toEqual([500, expect.stringContaining('options has no option methd')]);
  });

  test('a slow answer takes nothing of the time of logic', async () => {
    service.answer = async (_asked, response) => {
      await pause(3500);
      response.end('late');
    };
    expect((await element('read')).json).toMatchObject({ text: 'late' });
    expect((await element('send')).json).toMatchObject({ error: { status: 504, name: 'GatewayTimeoutError' } });
  });

  test('a request makes at most 20 calls', async () => {
    expect((await element('many')).text).toContain('A request makes at most 20 calls out');
    expect(service.asked).toHaveLength(20);
  });

  test('a request that runs again after a collision calls once', async () => {
    let count = 0;
    service.answer = async ({ url }, response) => {
      count += 1;
      // Somebody else changes the record that the request has read.
      if (url === '/a') await stage.send({ as: 'mona', send: `PATCH ${app}/record/total`, json: { count: 10 } });
      response.end(`${url}${count}`);
    };
    await stage.put(app, 'total', { count: 1 });
    const { status, text } = await act('add');
    expect(status, text).toBeLessThan(400);
    expect(await stage.items(app, 'total')).toMatchObject({ count: 11, answers: '/a1,/b2,/b3' });
    expect(service.asked.map(({ url }) => url)).toEqual(['/a', '/b', '/b']);
  });

  test('what a visitor has sent does not become a secret', async () => {
    expect((await act('echo', { text: 'hello' })).status).toBeLessThan(400);
    const { text } = await act('echo', { text: 'hello {{secret:key}}' });
    expect(text).toContain('no secret is put into this call');
    expect(service.asked.map(({ body }) => body)).toEqual(['hello']);
    const headers = { 'x-note': 'hello {{secret:key}}' };
    expect((await stage.send({ send: `GET ${app}/blocks/b/send`, headers })).status).not.toBe(200);
    expect(service.asked).toHaveLength(1);
  });

  test('a page that calls is made at each request', async () => {
    let count = 0;
    service.answer = (_asked, response) => {
      count += 1;
      response.end(`call ${count}`);
    };
    const shown = async () => {
      const { headers, text } = await stage.send({ send: `GET ${app}/blocks/page`, accept: html });
      return [headers['x-apps-cache'], /call \d/.exec(text)?.[0]];
    };
    expect([await shown(), await shown()]).toEqual([
      ['none; fetch', 'call 1'],
      ['none; fetch', 'call 2'],
    ]);
  });

  describe('a call after the commit', () => {
    const later = (url: string, more = {}) =>
      stage.send<string>({ send: `POST ${app}/blocks/b/later`, json: { url, ...more } });
    const job = (id: string) =>
      stage.host.run(async (strapi, id) => strapi.plugin('apps').service('jobs').find(id), id) as Promise<ListedJob>;

    test('is made again until its answer is 2xx; its row names the secret only', async () => {
      service.answer = ({ headers }, response) => {
        response.writeHead(service.asked.length === 1 ? 503 : 201).end(`got ${headers.authorization}`);
      };
      const { status, json: id, text } = await later(`${service.origin}/hook`);
      expect(status, text).toBe(200);
      await expect.poll(() => job(id), { timeout: 10_000 }).toMatchObject({ state: 'done' });
      const done = await job(id);
      expect(done).toMatchObject({
        kind: 'fetch',
        name: service.host,
        attempts: 2,
        status: 201,
        answer: 'got (hidden)',
      });
      expect(JSON.stringify(done)).not.toContain(JSON.stringify(secret).slice(1, -1));
      expect(done.data).toMatchObject({
        headers: { authorization: '{{secret:key}}' },
        body: '{"key":"{{secret:key}}"}',
      });
      const sent = { method: 'PUT', url: '/hook', body: JSON.stringify({ key: secret }) };
      expect(service.asked).toMatchObject([sent, sent]);
      expect(service.asked[1]?.headers.authorization).toBe(secret);
    });

    test('is refused at once for a host that may not be called, and is not made when the request fails', async () => {
      const refused = await later('https://other.example/');
      const message = expect.stringContaining(`"fetch.hosts.${app}" does not name "other.example:443"`);
      expect(refused).toMatchObject({ status: 500, json: { error: { name: 'LogicError', message } } });
      expect((await later(`${service.origin}/`, { fail: true })).status).toBe(500);
      await timeForMore();
      expect(service.asked).toEqual([]);
    });
  });

  test('a run that is repeated without writing makes no call that may change something', async () => {
    const after = (await stage.send<RunsPage>({ as: 'root', send: 'GET /apps/runs?limit=1' })).json.cursor;
    await act('fails');
    const { runs } = (await stage.send<RunsPage>({ as: 'root', send: `GET /apps/runs?after=${after}` })).json;
    const failed = runs.find(({ state }) => state === 'failed');
    const send = `POST /apps/runs/${failed?.id}/again`;
    const { json } = await stage.send<RunAgain>({ as: 'root', send });
    expect(json.runs).toMatchObject([
      { error: { message: expect.stringContaining('Writes are switched off: a call with POST') } },
    ]);
    expect(service.asked).toHaveLength(1);
  });
});

test('no secret is in the log, in runs or in the panel', async () => {
  await caughtOf('calls-javascript', 'https://other.example/');
  const { runs } = (await stage.send<RunsPage>({ as: 'root', send: 'GET /apps/runs?limit=200' })).json;
  expect(runs.length).toBeGreaterThan(10);
  const details = await Promise.all(
    runs.map(({ id }) => stage.send<RunDetail>({ as: 'root', send: `GET /apps/runs/${id}` })),
  );
  const all = [await stage.host.printed(), ...details.map(({ text }) => text)].join('\n');
  for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), btoa(secret)])
    expect(all).not.toContain(form);
});
