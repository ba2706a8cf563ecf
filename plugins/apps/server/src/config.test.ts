import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig, strapiConfig } from './config';

const read = (raw: unknown) => readConfig(raw, { appRoot: '/srv/host' });
const site = { id: 'site', title: 'Site', theme: 'demo' };

describe('defaults', () => {
  test('are those of the reference', () => {
    expect(read(undefined)).toEqual({
      themesDirectory: '/srv/host/themes',
      appsFolder: 'apps',
      sites: [{ id: 'site', title: 'Site', theme: 'default' }],
      content: {},
      limits: {
        logicTime: 2000,
        logicMemory: 64,
        hostCalls: 1000,
        hostTime: 1000,
        contentChanges: 50,
        resultSize: 1048576,
        logEntries: 100,
        logEntrySize: 10240,
        bodySize: 1048576,
        uploadSize: 629145600,
        keptSize: 1073741824,
        imagePixels: 50000000,
        mails: 100,
        jobs: 10000,
        drafts: 10000,
        draftsOfSender: 100,
        draftSize: 2147483648,
        submittedRecords: 1000,
        formPosts: 200,
        formTime: 1000,
        attempts: 10,
        runners: 1,
        isolates: 12,
        searchTime: 2000,
        searches: 4,
      },
      sandbox: { command: [], reuse: true },
      runs: { keep: 200, store: 0, persons: false },
      metrics: { token: '' },
      redis: { url: '' },
      log: { format: 'text' },
      jobs: { workers: 2, retries: 8, backoff: 5, lease: 30, keep: 14 },
      editing: null,
      exactCache: true,
      singleProcess: false,
      directConnection: null,
      archiveTests: null,
      receipts: { perAddress: 5, perNetwork: 30 },
      csrf: { maxAge: 86400000 },
      redirectHosts: [],
      trustedOrigins: [],
      temporaryDirectory: '/srv/host/.tmp/apps',
      filesDirectory: null,
      filesProvider: null,
      fetch: { hosts: {}, private: [], secrets: {}, timeout: 5000, size: 1000000 },
    });
  });

  test('fill in the missing keys of a group', () => {
    const config = read({ limits: { logicTime: 500 }, csrf: {} });
    expect(config.limits).toMatchObject({ logicTime: 500, logicMemory: 64 });
    expect(config.csrf.maxAge).toBe(86400000);
  });
});

test('given values are kept', () => {
  const given = {
    themesDirectory: '/var/themes',
    appsFolder: 'rapido',
    sites: [site, { id: 'intra.net', title: 'Intranet', theme: 'plain', locale: 'fr-CA' }],
    content: { 'api::article.article': { path: '/articles/:slug' } },
    redirectHosts: ['localhost:8080', '[::1]:80'],
    trustedOrigins: ['https://app.example.com', 'http://localhost:3000'],
    temporaryDirectory: '/var/spool/apps',
  };
  expect(read(given)).toMatchObject(given);
});

test.each([
  ['Pay.Example.COM', ['pay.example.com:443', 'pay.example.com:80']],
  ['Pay.Example.COM:443', ['pay.example.com:443']],
  ['pay.example.com:80', ['pay.example.com:80']],
  ['[0:0::1]', ['[::1]:443', '[::1]:80']],
])('a redirect to %s may lead to %j', (entry, hosts) => {
  expect(read({ redirectHosts: [entry] }).redirectHosts).toEqual(hosts);
});

test.each(Object.keys(read(undefined)))('%s is documented', (key) => {
  const page = readFileSync(path.join(__dirname, '../../../../docs/reference/configuration.md'), 'utf8');
  expect(page).toMatch(new RegExp(`^\\| \`${key}[\`.]`, 'm'));
});

test('an upload provider keeps its options as they are, also what is no plain value', () => {
  const credentials = async () => ({ accessKeyId: 'a', secretAccessKey: 'b' });
  const providerOptions = { s3Options: { credentials, params: { ACL: undefined } } };
  const { filesProvider } = read({ filesProvider: { provider: 'aws-s3', providerOptions } });
  expect(filesProvider).toEqual({ provider: 'aws-s3', providerOptions, actionOptions: {}, readOnly: false });
  expect(filesProvider?.providerOptions.s3Options).toBe(providerOptions.s3Options);
});

describe('hosts of calls out', () => {
  test('are kept as they are compared', () => {
    const hosts = [
      'API.Example.org',
      'bücher.example:443',
      'a.example:8443',
      '2130706433:80',
      '[::0001]:9000',
      '127.1',
    ];
    const { fetch } = read({ fetch: { hosts: { '*': hosts }, private: ['LOCALHOST:80'] } });
    const kept = ['api.example.org:443', 'xn--bcher-kva.example:443', 'a.example:8443', '127.0.0.1:80', '[::1]:9000'];
    expect(fetch).toMatchObject({ hosts: { '*': [...kept, '127.0.0.1:443'] }, private: ['localhost:80'] });
  });

  test.each([undefined, null, ''])('a secret whose variable gives %j is empty', (value) => {
    const { fetch } = read({ fetch: { secrets: { chat: { value, hosts: ['a.example'] } } } });
    expect(fetch.secrets.chat).toEqual({ value: '', hosts: ['a.example:443'] });
  });
});

describe('a configuration that stops the start', () => {
  test.each([
    [{ themeDirectory: './themes' }, "unknown key 'themeDirectory'"],
    [{ limits: { logictime: 1 } }, "unknown key 'limits.logictime'"],
    [{ csrf: { maxage: 1 } }, "unknown key 'csrf.maxage'"],
    [{ sites: [{ ...site, locale: 'fr_CA!' }] }, "'sites.0.locale' must be a locale like 'fr' or 'fr-CA', not fr_CA!"],
    [{ sites: [{ ...site, locale: null }] }, "'sites.0.locale' must be a locale"],
    [{ sites: [{ ...site, name: 'x' }] }, "unknown key 'sites.0.name'"],
    [{ content: { 'api::page.page': { path: '/:slug', url: '/' } } }, "unknown key 'content.api::page.page.url'"],
    [{ toString: 1 }, "unknown key 'toString'"],
    [{ limits: { logicTime: '2000' } }, "'limits.logicTime' must be a whole number of at least 1, not 2000"],
    [{ limits: { logicTime: 0 } }, "'limits.logicTime' must be"],
    [{ limits: { logicTime: 1.5 } }, "'limits.logicTime' must be"],
    [{ limits: { logicMemory: 4 } }, "'limits.logicMemory' must be a whole number of at least 8"],
    [{ limits: { imagePixels: 0 } }, "'limits.imagePixels' must be a whole number of at least 1, not 0"],
    [{ limits: { hostCalls: Number.POSITIVE_INFINITY } }, "'limits.hostCalls' must be"],
    [{ limits: [] }, "'limits' must be an object"],
    [{ csrf: null }, "'csrf' must be an object, not null"],
    [{ themesDirectory: 7 }, "'themesDirectory' must be a path, not 7"],
    [{ themesDirectory: '' }, "'themesDirectory' must be a path"],
    [{ appsFolder: '../apps' }, "'appsFolder' must be an id"],
    [{ sites: [] }, "'sites' must name at least one site"],
    [{ sites: {} }, "'sites' must be a list"],
    [{ sites: ['site'] }, "'sites.0' must be an object, not site"],
    [{ sites: [{ id: 'site', theme: 'demo' }] }, "'sites.0.title' is missing"],
    [{ sites: [site, site] }, "names the site 'site' twice"],
    [{ sites: [{ ...site, id: 'a..b' }] }, "'sites.0.id' must be an id"],
    [{ sites: [{ ...site, theme: '__proto__' }] }, "'sites.0.theme' must be an id"],
    [{ content: { 'api::page.page': { path: 'pages' } } }, "'content.api::page.page.path' must be an address"],
    [{ trustedOrigins: ['app.example.com'] }, "'trustedOrigins.0' must be an origin"],
    [{ trustedOrigins: ['https://app.example.com/'] }, "'trustedOrigins.0' must be an origin"],
    [{ trustedOrigins: ['*'] }, "'trustedOrigins.0' must be an origin"],
    [{ redirectHosts: 'example.com' }, "'redirectHosts' must be a list"],
    [{ redirectHosts: ['https://example.com'] }, "'redirectHosts.0' must be a host"],
    [{ redirectHosts: ['example.com.'] }, "'redirectHosts.0' must be a host"],
    [{ redirectHosts: ['example.com:99999'] }, "'redirectHosts.0' must be a host"],
    ['apps', "'apps' must be an object"],
    [{ fetch: { host: [] } }, "unknown key 'fetch.host'"],
    [{ fetch: { hosts: { 'a..b': [] } } }, "'fetch.hosts.a..b' must be the id of an app, or '*' for all"],
    [{ fetch: { hosts: { shop: 'a.example' } } }, "'fetch.hosts.shop' must be a list"],
    [{ fetch: { hosts: { shop: ['*.example'] } } }, "'fetch.hosts.shop.0' must be a host like 'api.example.org'"],
    [{ fetch: { hosts: { shop: ['https://a.example'] } } }, "'fetch.hosts.shop.0' must be a host"],
    [{ fetch: { hosts: { shop: ['a.example/path'] } } }, "'fetch.hosts.shop.0' must be a host"],
    [{ fetch: { hosts: { shop: ['me@a.example'] } } }, "'fetch.hosts.shop.0' must be a host"],
    [{ fetch: { hosts: { shop: ['a.example.'] } } }, "'fetch.hosts.shop.0' must be a host"],
    [{ fetch: { hosts: { shop: ['a.example:0'] } } }, "'fetch.hosts.shop.0' must be a host"],
    [{ fetch: { hosts: { shop: ['a.example:99999'] } } }, "'fetch.hosts.shop.0' must be a host"],
    [{ fetch: { hosts: { shop: ['10.0.0.0/8'] } } }, "'fetch.hosts.shop.0' must be a host"],
    [{ fetch: { private: ['127.0.0.1'] } }, "'fetch.private.0' must be 'host:port', not 127.0.0.1"],
    [{ fetch: { private: ['127.0.0.0/8:80'] } }, "'fetch.private.0' must be 'host:port'"],
    [
      { fetch: { secrets: { 'a b': { value: 'abcdefgh', hosts: [] } } } },
      "'fetch.secrets.a b' must be a name of letters",
    ],
    [
      { fetch: { secrets: { a: { value: 'short', hosts: [] } } } },
      "'fetch.secrets.a.value' must be a text of at least 8",
    ],
    [{ fetch: { secrets: { a: { value: 'two\nlines', hosts: [] } } } }, "'fetch.secrets.a.value' must be a text of"],
    [{ fetch: { secrets: { a: { value: 12345678, hosts: [] } } } }, "'fetch.secrets.a.value' must be a text of"],
    [{ fetch: { secrets: { a: { value: 'abcdefgh' } } } }, "'fetch.secrets.a.hosts' is missing"],
    [{ fetch: { secrets: { a: 'abcdefgh' } } }, "'fetch.secrets.a' must be an object"],
    [{ fetch: { timeout: 0 } }, "'fetch.timeout' must be a whole number of at least 1, not 0"],
    [{ fetch: { size: '1 MB' } }, "'fetch.size' must be a whole number"],
  ])('%j', (raw, message) => {
    expect(() => read(raw)).toThrow(message);
    expect(() => strapiConfig.validator(raw)).toThrow(message);
  });

  test.each([
    { value: 'short', hosts: [] },
    { value: 'of two\nlines', hosts: [] },
    'instead of an object',
    { value: 'abcdefgh', hosts: ['*'] },
  ])('whose message has no secret: %j', (secret) => {
    const value = typeof secret === 'string' ? secret : secret.value;
    const message = () => read({ fetch: { secrets: { chat: secret } } });
    expect(message).toThrow("'fetch.secrets.chat");
    expect(message).not.toThrow(value);
  });

  test('one message names all problems', () => {
    expect(() => read({ one: 1, limits: { two: 2 } })).toThrow(/'one'.*'limits\.two'/);
  });
});
