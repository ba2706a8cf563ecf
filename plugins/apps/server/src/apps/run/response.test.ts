import { expect, test } from 'vitest';
import { applyResponse } from './response';
import type { Run } from './types';

const newRun = (redirectHosts: string[] = []) =>
  ({
    response: { status: null, headers: {}, redirect: null },
    visit: { request: { url: 'http://here/site/page' }, site: { url: 'http://here/site' } },
    services: { config: { redirectHosts } },
  }) as unknown as Run;

/** `count` different headers with values of `length` characters. */
const headers = (count: number, length: number): [string, string][] =>
  Array.from({ length: count }, (_, index) => [`X-App-${index}`, 'x'.repeat(length)]);

test.each<[string, [string, string][], RegExp | null]>([
  ['the maximum number', headers(50, 20), null],
  ['one with a long value', headers(1, 2_000), null],
  ['one header again and again', Array(900).fill(['x-app-a', 'x'.repeat(500)]), null],
  ['names in Vary', [['Vary', 'Accept-Language, Cookie']], null],
  ['all of Vary', [['Vary', '*']], null],
  ...['', 'foo bar', 'Accept,', ',Accept', 'Accept;q=1'].map((value): [string, [string, string][], RegExp] => [
    `no names in Vary: "${value}"`,
    [['Vary', value]],
    /must be names of headers/,
  ]),
  ['too many', headers(51, 1), /50 headers of 8000 characters in all; "X-App-50" is one too many/],
  ['too much', headers(20, 500), /50 headers of 8000 characters/],
  ['too long', headers(1, 2_001), /"X-App-0" is longer than 2000/],
  ['a line break', [['X-App-A', 'a\r\nX-Evil: yes']], /characters that a header cannot carry/],
])('headers: %s', (_, list, refused) => {
  const run = newRun();
  const apply = () => {
    for (const [name, value] of list) applyResponse(run, { headers: { [name]: value } });
  };
  if (refused)
    expect(apply).toThrow(
      expect.objectContaining({ name: 'BadRequestError', message: expect.stringMatching(refused) }),
    );
  else apply();
  const sent = Object.entries(run.response.headers).flat().join('');
  expect(sent.length).toBeLessThanOrEqual(8_000);
});

test('the address of a redirect has at most 4000 characters', () => {
  const run = newRun();
  applyResponse(run, { redirect: `/site/${'a'.repeat(3_000)}` });
  expect(run.response.redirect).toHaveLength(3_017);
  expect(() => applyResponse(run, { redirect: `/site/${'a'.repeat(4_000)}` })).toThrow(/at most 4000/);
});

test.each([
  ['https://pay.example/x', ['pay.example:443'], true],
  ['https://PAY.example:443/x', ['pay.example:443'], true],
  ['http://pay.example/x', ['pay.example:443'], false],
  ['http://pay.example/x', ['pay.example:80'], true],
  ['https://pay.example:8443/x', ['pay.example:443'], false],
  ['ftp://pay.example:443/x', ['pay.example:443'], false],
])('a redirect to %s, where hosts are %j: %s', (redirect, hosts, allowed) => {
  const run = newRun(hosts);
  const apply = () => applyResponse(run, { redirect });
  if (allowed) apply();
  else expect(apply).toThrow(expect.objectContaining({ name: 'BadRequestError' }));
});
