import { describe, expect, test } from 'vitest';
import { isUntrustedOrigin } from './cookies';

const own = { publicUrl: 'https://site.example/below', trusted: ['https://app.example'] };
const host = 'site.example';

describe('a request is foreign', () => {
  const document = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  const cases: [string, string, Record<string, string>, boolean][] = [
    ['a client that is no browser', 'POST', {}, false],
    ['an origin that is no URL', 'POST', { origin: 'http://127.0.0.1:80.evil.example' }, true],
    ['same origin', 'POST', { 'sec-fetch-site': 'same-origin', origin: 'https://site.example' }, false],
    ['same origin, behind a proxy', 'POST', { 'sec-fetch-site': 'same-origin', origin: 'https://else.example' }, false],
    ['an address that was entered', 'GET', { 'sec-fetch-site': 'none', ...document }, false],
    ['another port', 'GET', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' }, true],
    ['another site', 'GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }, true],
    ['a value of the future', 'GET', { 'sec-fetch-site': 'same-party' }, true],
    ['a link from another site', 'GET', { 'sec-fetch-site': 'cross-site', ...document }, false],
    ['a link from another port', 'HEAD', { 'sec-fetch-site': 'same-site', ...document }, false],
    ['a frame', 'GET', { 'sec-fetch-site': 'same-site', ...document, 'sec-fetch-dest': 'iframe' }, true],
    ['a form of another port', 'POST', { 'sec-fetch-site': 'same-site', ...document }, true],
    ['a trusted page', 'POST', { 'sec-fetch-site': 'cross-site', origin: 'https://app.example' }, false],
    ['a trusted page, old browser', 'GET', { origin: 'https://app.example' }, false],
    ['almost a trusted page', 'GET', { origin: 'https://app.example:8443' }, true],
    ['own origin, old browser', 'POST', { origin: 'https://site.example' }, false],
    ['another port, old browser', 'POST', { origin: 'https://site.example:4000' }, true],
    ['another site, old browser', 'GET', { origin: 'https://evil.example' }, true],
    ['a form without referrer, old browser', 'POST', { origin: 'null' }, false],
    ['a script of nowhere, old browser', 'GET', { origin: 'null' }, true],
    ['no origin at all', 'GET', { origin: 'site.example' }, true],
  ];
  test.each(cases)('%s', (_, method, headers, foreign) => {
    expect(isUntrustedOrigin({ method, host, request: { headers } }, own)).toBe(foreign);
  });

  test('under the name by which a proxy asks, and without a public URL', () => {
    const request = { headers: { origin: 'http://localhost:1337' } };
    const nowhere = { publicUrl: '', trusted: [] };
    expect(isUntrustedOrigin({ host: 'localhost:1337', request }, nowhere)).toBe(false);
    expect(isUntrustedOrigin({ host: 'localhost:1338', request }, nowhere)).toBe(true);
    const behind = { ...own, publicUrl: 'http://localhost:1337' };
    expect(isUntrustedOrigin({ host: 'upstream', request }, behind)).toBe(false);
    expect(isUntrustedOrigin({ request }, nowhere)).toBe(true);
  });
});

test('an origin that is no URL is foreign to a host without a public URL, too', () => {
  const sent = {
    method: 'POST',
    host: '127.0.0.1:1337',
    request: { headers: { origin: 'http://127.0.0.1:1337.evil' } },
  };
  expect(isUntrustedOrigin(sent, { publicUrl: '', trusted: [] })).toBe(true);
});
