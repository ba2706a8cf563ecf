import type { ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { isAppsError } from '../common/errors';
import type { FetchConfig } from '../config.types';
import { get, outbound, type Peer, recorder, resolver, startPeer } from './testing/peer';
import type { OutboundRequest } from './types';

/** Names that the resolver knows; none of them is asked for in any other way. */
const names = {
  'public.test': '93.184.215.14',
  'local.test': '127.0.0.1',
  'both.test': ['93.184.215.14', '10.0.0.1'],
  'six.test': '::1',
  'mapped.test': '::ffff:10.0.0.1',
  'metadata.test': '169.254.169.254',
  'translated.test': '64:ff9b::a00:1',
};

/** The name and message of the error of a call, and where it has connected to. Each call would find a host that answers. */
async function refused(request: OutboundRequest, config: Partial<FetchConfig>) {
  const peer = await startPeer((_request, response) => response.end('secret of the network'));
  const { connector, connected } = recorder(peer.port);
  const { lookup } = resolver(names);
  const out = outbound(config, { connector, lookup });
  const error = await out.call('shop', request).catch((thrown: unknown) => thrown);
  const text = isAppsError(error) ? `${error.name}: ${error.message}` : String(error);
  return { text, connected, received: peer.received };
}

const hosts = (...shop: string[]) => ({ hosts: { shop } });

/** Every address of the request is named in `hosts`, as the configuration would have it; nothing is in `private`. */
const everywhere = hosts(
  ...[
    '127.0.0.1:443',
    '0.0.0.0:443',
    '10.0.0.1:443',
    '169.254.169.254:443',
    '[::1]:443',
    '[::]:443',
    '192.168.0.1:8443',
  ],
  ...[
    '[::ffff:7f00:1]:443',
    '[::7f00:1]:443',
    '[64:ff9b::7f00:1]:443',
    '[fd00::1]:443',
    '[fe80::1]:443',
    '[ff02::1]:443',
  ],
  ...['[2002:7f00:1::]:443', '[2001:0:7f00:1::]:443', '100.64.0.1:443', '224.0.0.1:443', '255.255.255.255:443'],
  ...Object.keys(names).map((name) => `${name}:443`),
);

describe('addresses that are not public, in every spelling', () => {
  const notPrivate = /^ForbiddenError: The configuration "fetch\.private" does not name/;

  test.each([
    ...['127.0.0.1', '2130706433', '0x7f000001', '017700000001', '127.1', '127.0.1', '0177.0.0.1', '0x7f.0.0.1'],
    ...['127.0.0.1:443', '0x7F.1', '00000177.1', '１２７.0.0.1', '127。0。0。1', '①②⑦.0.0.1', '%31%32%37.0.0.1'],
    ...['0', '0.0.0.0', '0x0', '10.1', '167772161', '10.0.0.1', '169.254.169.254', '2852039166', '0xa9fea9fe'],
    ...['100.64.0.1', '224.0.0.1', '255.255.255.255', '4294967295', '192.168.0.1:8443', '3232235521:8443'],
    ...['[::1]', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::]', '[::127.0.0.1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]'],
    ...['[::FFFF:7F00:0001]', '[64:ff9b::127.0.0.1]', '[fd00::1]', '[fe80::1]', '[ff02::1]', '[2002:7f00:1::]'],
    ...['[2001:0:7f00:1::]', '[0:0:0:0:0:ffff:127.0.0.1]'],
    // by names
    ...[
      'local.test',
      'LOCAL.test',
      'ｌocal.test',
      'both.test',
      'six.test',
      'mapped.test',
      'metadata.test',
      'translated.test',
    ],
  ])('%s', async (host) => {
    const { text, connected } = await refused(get(`https://${host}/`), everywhere);
    expect(text).toMatch(notPrivate);
    expect(text).not.toMatch(/\d+\.\d+|::|\.test/);
    expect(connected).toEqual([]);
  });

  test('that only another port of is private', async () => {
    const { text, connected } = await refused(get('https://local.test/'), {
      ...everywhere,
      private: ['local.test:8443'],
    });
    expect(text).toMatch(notPrivate);
    expect(connected).toEqual([]);
  });

  test('by plain http', async () => {
    const config = { ...hosts('public.test:80', 'public.test:443') };
    const { text, connected } = await refused(get('http://public.test/'), config);
    expect(text).toMatch(/"fetch\.private" does not name "public\.test:80": only hosts .* plain http/);
    expect(connected).toEqual([]);
  });
});

describe('hosts that the configuration does not name for the app', () => {
  test.each([
    ...['https://other.test/', 'https://public.test:8443/', 'https://public.test./', 'https://sub.public.test/'],
    ...['https://public.test.evil.test/', 'https://pub1ic.test/', 'https://рublic.test/', 'https://93.184.215.14/'],
    ...['https://public.test%00.evil.test', 'https:\\\\evil.test\\public.test', 'https:evil.test', '//public.test/'],
    ...['https://127.0.0.1/', 'https://localhost/', 'https://[::1]/', 'https://[::ffff:127.0.0.1]/'],
  ])('%s', async (url) => {
    const { text, connected } = await refused(get(url), hosts('public.test:443'));
    expect(text).toMatch(/^ForbiddenError: .*"fetch\.hosts\.shop" does not name|^BadRequestError: .*cannot be read/);
    expect(connected).toEqual([]);
  });

  test.each([
    { other: ['public.test:443'] },
    { '*': ['other.test:443'] },
    JSON.parse('{"__proto__": ["public.test:443"]}'),
  ])('with %j', async (given) => {
    const { text } = await refused(get('https://public.test/'), { hosts: given });
    expect(text).toBe('ForbiddenError: The configuration "fetch.hosts.shop" does not name "public.test:443"');
  });
});

describe('arguments', () => {
  const post = (more: Partial<OutboundRequest>) => get('https://public.test/', { method: 'POST', ...more });
  const withHeader = (name: string, value = 'x') => post({ headers: { [name]: value } });

  test.each<[OutboundRequest, RegExp]>([
    [get('https://me:pass@public.test/'), /credentials/],
    [get('https://me@public.test/'), /credentials/],
    [get('https://public.test@evil.test/'), /credentials/],
    [get('ftp://public.test/'), /begin with https/],
    [get('file:///etc/passwd'), /begin with https/],
    [get('data:text/plain,a'), /begin with https/],
    [get('javascript:1'), /begin with https/],
    [get('/path'), /cannot be read/],
    [get(''), /cannot be read/],
    [get('https://[fe80::1%25lo]/'), /cannot be read/],
    [get('https://[fe80::1%lo]/'), /cannot be read/],
    [get('https://public.test:99999/'), /cannot be read/],
    [get('https://1.2.3.4.5/'), /cannot be read/],
    [get('https://256.0.0.1/'), /cannot be read/],
    [get('https://0x100000000/'), /cannot be read/],
    [get('https://a b/'), /cannot be read/],
    [get(`https://public.test/${'a'.repeat(4000)}`), /more than 4000/],
    [get('https://public.test/?key={{secret:key}}'), /not in the address/],
    [get('https://public.test/%7B%7Bsecret%3Akey%7D%7D'), /not in the address/],
    [post({ method: 'TRACE' }), /one of GET, HEAD/],
    [post({ method: 'CONNECT' }), /one of GET, HEAD/],
    [post({ method: 'GET /evil HTTP/1.1\r\nHost: x\r\n\r\nGET' }), /one of GET, HEAD/],
    [get('https://public.test/', { body: 'x' }), /has no body/],
    [get('https://public.test/', { method: 'HEAD', body: '' }), /has no body/],
    [withHeader('x-a', 'a\r\nevil: b'), /"x-a" has a character/],
    [withHeader('x-a', 'a\nevil: b'), /"x-a" has a character/],
    [withHeader('x-a', 'a\0b'), /"x-a" has a character/],
    [withHeader('x-a', 'č'), /"x-a" has a character/],
    [withHeader('x-a\r\nevil'), /is not a name/],
    [withHeader('x a'), /is not a name/],
    [withHeader('x:a'), /is not a name/],
    [withHeader(''), /is not a name/],
    [withHeader('é'), /is not a name/],
    [withHeader('{{secret:key}}'), /is not a name/],
    ...[
      'Host',
      'Content-Length',
      'transfer-encoding',
      'Connection',
      'Upgrade',
      'TE',
      'Trailer',
      'Keep-Alive',
      'Expect',
    ].map((name): [OutboundRequest, RegExp] => [withHeader(name), /is set by the server/]),
    [withHeader('Proxy-Authorization'), /is set by the server/],
    [withHeader('Accept-Encoding'), /is set by the server/],
    [post({ headers: { 'X-A': '1', 'x-a': '2' } }), /given twice/],
    [post({ headers: Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`x-${at}`, ''])) }), /more than 50/],
    [withHeader('x-a', 'a'.repeat(16_001)), /16000 characters/],
    [post({ timeout: 2001 }), /from 1 to 2000, which is "fetch\.timeout"/],
    [post({ timeout: 0 }), /from 1 to 2000/],
    [post({ timeout: Number.NaN }), /from 1 to 2000/],
  ])('%o', async (request, message) => {
    const { text, connected } = await refused(request, hosts('public.test:443'));
    expect(text).toMatch(/^BadRequestError: The call is wrong/);
    expect(text).toMatch(message);
    expect(connected).toEqual([]);
  });

  test('a body that is too large, before and after its secrets are in it', async () => {
    const large = await refused(post({ body: 'ü'.repeat(50_001) }), hosts('public.test:443'));
    expect(large.text).toMatch(/^PayloadTooLargeError: The body of the call is larger than 100000 bytes/);
    const secrets = { key: { value: 'a'.repeat(8000), hosts: ['public.test:443'] } };
    const grown = await refused(post({ body: '{{secret:key}}'.repeat(13) }), { ...hosts('public.test:443'), secrets });
    expect(grown.text).toMatch(/^PayloadTooLargeError/);
    expect([...large.connected, ...grown.connected]).toEqual([]);
  });
});

describe('secrets', () => {
  const value = 'the-secret-value';
  const config = {
    ...hosts('public.test:443', 'other.test:443'),
    secrets: {
      key: { value, hosts: ['other.test:443', 'public.test:8443'] },
      unset: { value: '', hosts: ['public.test:443'] },
    },
  };
  test.each([
    ['key', '"fetch.secrets.key.hosts" does not name'],
    ['unset', '"fetch.secrets.unset.value" is empty'],
    ['none', '"fetch.secrets.none" is missing'],
    ['__proto__', '"fetch.secrets.__proto__" is missing'],
  ])('%s', async (name, message) => {
    const secret = `{{secret:${name}}}`;
    for (const part of [{ headers: { authorization: secret } }, { body: secret }]) {
      const { text, connected } = await refused(get('https://public.test/', { method: 'POST', ...part }), config);
      expect(text).toMatch(/^ForbiddenError/);
      expect(text).toContain(message);
      expect(text).not.toContain(value);
      expect(connected).toEqual([]);
    }
  });
});

describe('names whose address changes', () => {
  test('between two calls: the address that was checked is connected to, and the name is resolved once for each', async () => {
    const peer = await startPeer((_request, response) => response.end('ok'));
    const { connector, connected } = recorder(peer.port);
    const answers = ['93.184.215.14', '127.0.0.1'];
    const { lookup, asked } = resolver(
      Object.defineProperty({}, 'changes.test', { get: () => answers.shift() ?? '127.0.0.1' }) as Record<
        string,
        string
      >,
    );
    const out = outbound(hosts('changes.test:443'), { connector, lookup });
    expect((await out.call('shop', get('https://changes.test/'))).text).toBe('ok');
    await expect(out.call('shop', get('https://changes.test/'))).rejects.toThrow('"fetch.private"');
    expect([asked.length, connected]).toEqual([2, ['93.184.215.14 443']]);
  });

  test('between a call and its redirect to itself', async () => {
    const peer = await startPeer(({ url }, response) => response.writeHead(302, { location: '/again' }).end(url));
    const { connector, connected } = recorder(peer.port);
    const answers = ['93.184.215.14', '169.254.169.254'];
    const { lookup } = resolver(
      Object.defineProperty({}, 'changes.test', { get: () => answers.shift() ?? '' }) as Record<string, string>,
    );
    const out = outbound(hosts('changes.test:443'), { connector, lookup });
    await expect(out.call('shop', get('https://changes.test/'))).rejects.toThrow('"fetch.private"');
    expect([connected, peer.received.length]).toEqual([['93.184.215.14 443'], 1]);
  });

  test('the system resolves: localhost is loopback', async () => {
    const peer = await startPeer((_request, response) => response.end('local'));
    const config = hosts(`localhost:${peer.port}`);
    await expect(outbound(config).call('shop', get(`https://localhost:${peer.port}/`))).rejects.toThrow(
      '"fetch.private"',
    );
    expect(peer.received).toEqual([]);
  });
});

describe('redirects', () => {
  async function redirected(location: string, more: Partial<FetchConfig> = {}, request: Partial<OutboundRequest> = {}) {
    const inner = await startPeer((_request, response) => response.end('inner'), '127.0.0.2');
    const target = location.replace('INNER', inner.host);
    const peer = await startPeer((_request, response) => response.writeHead(307, { location: target }).end());
    const config = {
      hosts: { shop: [peer.host, ...(more.hosts?.shop ?? [])] },
      private: [peer.host],
      secrets: more.secrets ?? {},
    };
    const out = outbound(config);
    const error = await out.call('shop', get(`http://${peer.host}/`, request)).catch((thrown: Error) => thrown);
    return { text: isAppsError(error) ? `${error.name}: ${error.message}` : String(error), inner, peer };
  }

  test.each([
    ['http://INNER/', /"fetch\.hosts\.shop" does not name the host that the answer redirects to$/],
    ['//INNER/', /"fetch\.hosts\.shop"/],
    ['https://INNER/', /"fetch\.hosts\.shop"/],
    ['http://2130706433/', /"fetch\.hosts\.shop"/],
    ['http://169.254.169.254/latest/meta-data/', /"fetch\.hosts\.shop"/],
    ['http://[::1]/', /"fetch\.hosts\.shop"/],
    ['file:///etc/passwd', /^BadGatewayError.*cannot be called/],
    ['http://me:pass@INNER/', /^BadGatewayError.*cannot be called/],
    ['https://a b/', /^BadGatewayError.*cannot be called/],
    [`/${'a'.repeat(5000)}`, /^BadGatewayError.*cannot be called/],
  ])('to %s', async (location, message) => {
    const { text, inner, peer } = await redirected(location);
    expect(text).toMatch(message);
    expect(text).not.toMatch(/127\.|169\.|::1|2130706433/);
    expect([peer.received.length, inner.received.length]).toEqual([1, 0]);
  });

  test('to a host that may be called, by plain http, but is not private', async () => {
    const { text, inner } = await redirected('http://local.test/', { hosts: { shop: ['local.test:80'] } });
    expect(text).toMatch(/"fetch\.private" does not name the host that the answer redirects to: only hosts/);
    expect(inner.received).toEqual([]);
  });

  test('with a body whose secret is not for the second host', async () => {
    const inner = await startPeer((_request, response) => response.end('inner'), '127.0.0.2');
    const peer = await startPeer((_request, response) =>
      response.writeHead(307, { location: `http://${inner.host}/` }).end(),
    );
    const both = [peer.host, inner.host];
    const secrets = { key: { value: 'the-secret-value', hosts: [peer.host] } };
    const out = outbound({ hosts: { shop: both }, private: both, secrets });
    const call = out.call('shop', get(`http://${peer.host}/`, { method: 'POST', body: '{{secret:key}}' }));
    await expect(call).rejects.toThrow('"fetch.secrets.key.hosts" does not name the host that is called');
    expect([peer.received[0]?.body, inner.received]).toEqual(['the-secret-value', []]);
  });

  test('without end', async () => {
    const peer = await startPeer(({ url }, response) => response.writeHead(302, { location: `${url}a` }).end());
    const call = outbound({ hosts: { shop: [peer.host] }, private: [peer.host] }).call(
      'shop',
      get(`http://${peer.host}/`),
    );
    await expect(call).rejects.toMatchObject({
      name: 'BadGatewayError',
      message: expect.stringContaining('more than 5'),
    });
    expect(peer.received).toHaveLength(6);
  });
});

describe('answers', () => {
  const size = 100_000;
  const open = ({ host }: Peer) => outbound({ hosts: { shop: [host] }, private: [host], size, timeout: 400 });
  const zeros = Buffer.alloc(50_000_000);
  // Packed before the calls, whose time would be over.
  const bombs = { gzip: gzipSync(zeros), br: brotliCompressSync(zeros) };

  test.each<[what: string, name: string, answer: (response: ServerResponse) => void]>([
    ['a large text', 'PayloadTooLargeError', (response) => response.end('a'.repeat(size + 1))],
    [
      'a length that is a lie',
      'BadGatewayError',
      (response) => response.writeHead(200, { 'content-length': '9' }).write('a') && response.destroy(),
    ],
    [
      'text without end',
      'PayloadTooLargeError',
      (response) => {
        const more = () => response.destroyed || response.write('a'.repeat(10_000), () => setImmediate(more));
        more();
      },
    ],
    [
      'a gzip bomb',
      'PayloadTooLargeError',
      (response) => response.setHeader('content-encoding', 'gzip').end(bombs.gzip),
    ],
    ['a brotli bomb', 'PayloadTooLargeError', (response) => response.setHeader('content-encoding', 'br').end(bombs.br)],
    [
      'bytes that are not gzip',
      'BadGatewayError',
      (response) => response.setHeader('content-encoding', 'gzip').end('abc'),
    ],
    [
      'half of a gzip',
      'BadGatewayError',
      (response) =>
        response.setHeader('content-encoding', 'gzip').end(gzipSync(zeros.subarray(0, 9000)).subarray(0, 20)),
    ],
    ['another encoding', 'BadGatewayError', (response) => response.setHeader('content-encoding', 'deflate').end('abc')],
    ['two encodings', 'BadGatewayError', (response) => response.setHeader('content-encoding', 'gzip, gzip').end('abc')],
    ['large headers', 'BadGatewayError', (response) => response.setHeader('x-a', 'a'.repeat(20_000)).end()],
    ['no answer', 'GatewayTimeoutError', () => undefined],
    ['headers only', 'GatewayTimeoutError', (response) => response.writeHead(200).flushHeaders()],
    [
      'one byte at a time',
      'GatewayTimeoutError',
      (response) => {
        const timer = setInterval(() => response.write('a'), 20);
        response.on('close', () => clearInterval(timer));
      },
    ],
    ['a closed connection', 'BadGatewayError', (response) => response.destroy()],
    ['no HTTP', 'BadGatewayError', (response) => response.socket?.end('hello\r\n\r\n')],
  ])('%s', async (_what, name, answer) => {
    const peer = await startPeer((_request, response) => answer(response));
    const error = await open(peer)
      .call('shop', get(`http://${peer.host}/`))
      .catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ name });
    expect(String(error)).not.toContain('127.');
    expect((error as Error).cause).toBeUndefined();
  });

  test('of a host that listens no more, or has no name', async () => {
    const gone = outbound(
      { hosts: { shop: ['127.0.0.1:9', 'none.test:443'] }, private: ['127.0.0.1:9'] },
      resolver({}),
    );
    await expect(gone.call('shop', get('http://127.0.0.1:9/'))).rejects.toThrow('it refused the connection');
    await expect(gone.call('shop', get('https://none.test/'))).rejects.toThrow('its name has no address');
  });

  test('of a resolver that never answers', async () => {
    const out = outbound({ hosts: { shop: ['slow.test:443'] }, timeout: 200 }, { lookup: () => undefined });
    await expect(out.call('shop', get('https://slow.test/'))).rejects.toMatchObject({ name: 'GatewayTimeoutError' });
  });
});
