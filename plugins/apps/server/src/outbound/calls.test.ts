import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { get, outbound, type Peer, resolver, startPeer } from './testing/peer';

const ok = (text: string) => (_request: unknown, response: { end(text: string): void }) => response.end(text);

const opened = ({ host }: Peer, more = {}) => outbound({ hosts: { shop: [host] }, private: [host], ...more });

describe('a call', () => {
  test('sends method, headers and body, and gives status, headers and text', async () => {
    const peer = await startPeer((_request, response) => {
      response.writeHead(201, { 'X-Two': ['a', 'b'], 'set-cookie': ['c=1', 'd=2'], 'content-type': 'text/plain' });
      response.end('é');
    });
    const sent = get(`http://${peer.host}/a?b=c#d`, { method: 'post', headers: { 'X-One': '1' }, body: 'ü' });
    const answer = await opened(peer).call('shop', sent);
    expect(answer).toMatchObject({ status: 201, text: 'é', headers: { 'x-two': 'a, b', 'set-cookie': 'c=1\nd=2' } });
    expect(peer.received).toMatchObject([{ method: 'POST', url: '/a?b=c', body: 'ü', headers: { 'x-one': '1' } }]);
    expect(peer.received[0]?.headers).toMatchObject({ host: peer.host, 'content-length': '2', connection: 'close' });
  });

  test.each([
    ['gzip', gzipSync('abc'), 'abc'],
    ['br', brotliCompressSync('abc'), 'abc'],
    ['identity', Buffer.from('abc'), 'abc'],
  ])('an answer in %s', async (encoding, bytes, text) => {
    const peer = await startPeer((_request, response) => {
      response.setHeader('content-encoding', encoding);
      response.end(bytes);
    });
    expect((await opened(peer).call('shop', get(`http://${peer.host}/`))).text).toBe(text);
    expect(peer.received[0]?.headers['accept-encoding']).toBe('gzip, br');
  });

  test.each(['gzip', 'br'])('the answer to HEAD has no body, though its header says %s', async (encoding) => {
    const peer = await startPeer((_request, response) => response.setHeader('content-encoding', encoding).end());
    const answer = await opened(peer).call('shop', get(`http://${peer.host}/`, { method: 'HEAD' }));
    expect(answer).toMatchObject({ status: 200, text: '' });
  });

  test.each([
    ['text/plain; charset=ISO-8859-1', Buffer.from([0xe9]), 'é'],
    ['text/plain; charset="utf-8"', Buffer.from('é'), 'é'],
    ['text/plain; charset=unheard-of', Buffer.from('é'), 'é'],
    ['application/octet-stream', Buffer.from([0xff, 0x41]), '\ufffdA'],
  ])('text of %s', async (type, bytes, text) => {
    const peer = await startPeer((_request, response) => response.setHeader('content-type', type).end(bytes));
    expect((await opened(peer).call('shop', get(`http://${peer.host}/`))).text).toBe(text);
  });

  test('to a host that all apps may call, by its name, on IPv6', async () => {
    const peer = await startPeer(ok('six'), '::1');
    const { lookup } = resolver({ 'peer.test': '::1' });
    const host = `peer.test:${peer.port}`;
    const out = outbound({ hosts: { '*': [host] }, private: [host] }, { lookup });
    expect((await out.call('any', get(`http://PEER.test:${peer.port}/`))).text).toBe('six');
  });

  test('ends with the reason of its signal', async () => {
    const controller = new AbortController();
    const peer = await startPeer(() => controller.abort(new Error('the lease is lost')));
    const call = opened(peer).call('shop', get(`http://${peer.host}/`, { signal: controller.signal }));
    await expect(call).rejects.toThrow('the lease is lost');
  });
});

describe('redirects', () => {
  const redirecting = (status: number, location: string) =>
    startPeer(({ url }, response) => {
      if (url !== '/') return response.end('end');
      return response.writeHead(status, { location }).end();
    });

  test.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [307, 'POST', 'POST', 'body'],
    [308, 'PUT', 'PUT', 'body'],
    [301, 'PUT', 'PUT', 'body'],
  ])('%i of %s becomes %s', async (status, method, next, body) => {
    const peer = await redirecting(status, '/next');
    const headers = { 'content-type': 'text/plain', authorization: 'a' };
    const answer = await opened(peer).call('shop', get(`http://${peer.host}/`, { method, headers, body: 'body' }));
    expect(answer.text).toBe('end');
    expect(peer.received[1]).toMatchObject({ method: next, url: '/next', body, headers: { authorization: 'a' } });
    expect(peer.received[1]?.headers['content-type']).toBe(next === 'GET' ? undefined : 'text/plain');
  });

  test('to another host, without credentials and without headers that had a secret', async () => {
    const second = await startPeer(ok('second'), '127.0.0.2');
    const first = await redirecting(307, `http://${second.host}/`);
    const hosts = [first.host, second.host];
    const out = outbound({ hosts: { shop: hosts }, private: hosts, secrets: { key: { value: 'abcdefgh', hosts } } });
    const headers = { authorization: 'a', Cookie: 'b', 'x-key': '{{secret:key}}', 'x-plain': 'c' };
    await out.call('shop', get(`http://${first.host}/`, { headers }));
    expect(first.received[0]?.headers).toMatchObject({ authorization: 'a', cookie: 'b', 'x-key': 'abcdefgh' });
    const { authorization, cookie, 'x-key': key, 'x-plain': plain } = second.received[0]?.headers ?? {};
    expect([authorization, cookie, key, plain]).toEqual([undefined, undefined, undefined, 'c']);
  });

  test.each([
    ['a status without an address', 302, ''],
    ['a choice', 300, '/next'],
    ['not modified', 304, '/next'],
  ])('%s is the answer', async (_what, status, location) => {
    const peer = await redirecting(status, location);
    expect((await opened(peer).call('shop', get(`http://${peer.host}/`))).status).toBe(status);
  });
});

describe('secrets', () => {
  const value = 'p"a/s\\ &word';
  const withSecret = (host: string) => ({ secrets: { key: { value, hosts: [host] } } });

  test.each([
    ['text/plain', `>${value}<`],
    ['application/json; charset=utf-8', `>${JSON.stringify(value).slice(1, -1)}<`],
    ['application/vnd.api+json', `>${JSON.stringify(value).slice(1, -1)}<`],
    ['application/x-www-form-urlencoded', `>${encodeURIComponent(value)}<`],
  ])('are put into a body of %s', async (type, body) => {
    const peer = await startPeer(ok(''));
    const headers = { 'content-type': type, authorization: 'Bearer {{secret:key}}' };
    const request = get(`http://${peer.host}/`, { method: 'POST', headers, body: '>{{secret:key}}<' });
    await opened(peer, withSecret(peer.host)).call('shop', request);
    expect(peer.received).toMatchObject([{ body, headers: { authorization: `Bearer ${value}` } }]);
  });

  const base64 = (before: string) => Buffer.from(`${before}${value}:more`).toString('base64');
  test.each([
    ['as it is', value],
    ['as JSON', JSON.stringify(value)],
    ['as JSON with escaped slashes', JSON.stringify(value).replaceAll('/', '\\/')],
    ['in an address', encodeURIComponent(value)],
    ['in an address, in lower case', encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase())],
    ['in a form', new URLSearchParams({ value }).toString()],
    ['as HTML', value.replaceAll('&', '&amp;').replaceAll('"', '&quot;')],
    ['hexadecimal', Buffer.from(value).toString('hex')],
    ['base64', base64('')],
    ['base64 after one byte', base64('a')],
    ['base64 after a name', base64('me:')],
    ['base64url', Buffer.from(`ab${value}`).toString('base64url')],
  ])('are hidden in an answer that repeats them %s', async (_form, text) => {
    const peer = await startPeer((_request, response) => {
      response.setHeader('x-echo', Buffer.from(text).toString('latin1')).end(`<${text}>`);
    });
    const answer = await opened(peer, withSecret(peer.host)).call('shop', get(`http://${peer.host}/`));
    for (const shown of [answer.text, answer.headers['x-echo']]) {
      expect(shown).toContain('(hidden)');
      // What stays of base64 stands for three bytes at most.
      expect(Buffer.from(String(shown), 'base64').toString()).not.toContain(value.slice(3));
      expect(shown).not.toContain(value.slice(0, 6));
    }
  });

  test('are given to the server itself by their names', () => {
    const out = outbound({ secrets: { key: { value, hosts: [] }, unset: { value: '', hosts: [] } } });
    expect([out.secret('key'), out.secret('other')]).toEqual([value, null]);
    expect(() => out.secret('unset')).toThrow('"fetch.secrets.unset.value" is empty');
  });
});
