import { describe, expect, test } from 'vitest';
import { errorText } from '../../common/errors';
import { readThemeInfo } from './app';
import { readSettings } from './settings';
import { failure, file, many } from './testing/definitions';

describe('readSettings', () => {
  test.each([
    ['', { debug: false, withTheme: false, acl: null, source: {} }],
    ['with_theme: true', { withTheme: true }],
    ['', { json: { reader: 'write', author: 'write', editor: 'write', submitter: 'write' } }],
    ['', { keepDrafts: 30 * 86_400_000 }],
    ['keep_drafts: 12 hours', { keepDrafts: 12 * 3_600_000 }],
    ['strict: true', { strict: true, json: { reader: 'write', author: 'write', editor: 'write', submitter: 'none' } }],
    ['json: none', { json: { reader: 'none', author: 'none', editor: 'none', submitter: 'none' } }],
    ['{strict: true, json: read}', { json: { reader: 'read', submitter: 'read' } }],
    [
      '{strict: true, json: {author: none, editor: }}',
      { json: { author: 'none', editor: 'write', submitter: 'none' } },
    ],
    ['{strict: true, json: {submitter: write}}', { json: { author: 'write', submitter: 'write' } }],
    ['schedule_as: [Editors, Public]', { scheduleAs: ['Editors', 'Public'] }],
    ['schedule_as:', { scheduleAs: [] }],
    ['', { webhooks: new Map() }],
    [
      'webhooks: {chat: {url: "https://example.org/x?y=1", events: [create], block: b, query: "n > 1", body: b/f, secret: s}}',
      {
        webhooks: new Map([
          [
            'chat',
            {
              url: 'https://example.org/x?y=1',
              events: new Set(['create']),
              block: 'b',
              query: 'n > 1',
              body: { block: 'b', name: 'f' },
              secret: 's',
              position: expect.anything(),
            },
          ],
        ]),
      },
    ],
    ['debug: true', { debug: true, acl: null, source: { debug: true } }],
    [
      "acl: {rights: {reader: ['*'], author: }, roles: {boss: [eric], none: }}",
      {
        acl: {
          rights: { reader: ['*'], author: [], editor: [], submitter: [], owner: [] },
          roles: { boss: ['eric'], none: [] },
        },
      },
    ],
  ])('reads %j', (text, expected) => {
    expect(readSettings(file(text, 'settings.yaml'))).toMatchObject(expected);
  });

  test.each<[string, RegExp]>([
    ['debug: 1', /^settings.yaml:1:8: debug: This must be true or false, not the number 1$/],
    ['keep_drafts: 30', /must be a time such as "30 days"/],
    ['keep_drafts: 600 weeks', /longer than ten years/],
    ['acl: {rights: {readers: []}}', /did you mean "reader"/],
    ['acl: {rights: {reader: eric}}', /such as \["eric"\]/],
    ['acl: {roles: {"": []}}', /cannot be the name of a role/],
    ['acl: [x]', /must be a mapping/],
    [
      'json: nome',
      /^settings.yaml:1:7: json: This must be "none" or "read" or "write", not the text "nome", did you mean "none"/,
    ],
    ['json: false', /json: This must be "none" or "read" or "write", not the value false/],
    ['json: {author: wirte}', /^settings.yaml:1:16: json.author: This must be .* did you mean "write"/],
    ['json: {authors: none}', /^settings.yaml:1:8: json.*"authors" is not known, did you mean "author"\?/],
    ['json: {author: [none]}', /json.author: This must be "none" or "read" or "write", not a list/],
    ['schedule_as: editors', /^settings.yaml:1:14: schedule_as: This must be a list of users and groups/],
    ["schedule_as: [a, '*']", /^settings.yaml:1:18: schedule_as.1: This must be the name of a role, not "\*"/],
    [`schedule_as: [${many(21, (n) => `r${n}`)}]`, /schedule_as: There are at most 20 roles/],
    ['webhooks: [x]', /webhooks: This must be a mapping/],
    ['webhooks: {a: {}}', /^settings.yaml:1:15: webhooks.a: A webhook needs a "url"/],
    ['webhooks: {a: {url: example.org}}', /webhooks.a.url: This must be an address such as/],
    ['webhooks: {a: {url: "ftp://example.org"}}', /webhooks.a.url: This must be an address such as/],
    ['webhooks: {a: {url: "https://u:p@example.org"}}', /webhooks.a.url: .* without a name, a password/],
    ['webhooks: {a: {url: "https://example.org/#x"}}', /webhooks.a.url: /],
    ['webhooks: {a: {url: "https://example.org", events: created}}', /webhooks.a.events: This must be a list/],
    ['webhooks: {a: {url: "https://example.org", events: [created]}}', /events.0: .* did you mean "create"/],
    ['webhooks: {a: {url: "https://example.org", events: []}}', /at least one event/],
    ['webhooks: {a: {url: "https://example.org", body: message}}', /webhooks.a.body: This must be <block>.<function>/],
    ['webhooks: {a: {url: "https://example.org", secret: "a b"}}', /webhooks.a.secret: .* name of a secret/],
    ['webhooks: {a: {url: "https://example.org", event: [create]}}', /"event" is not known, did you mean "events"/],
    ['webhooks: {a b: {url: "https://example.org"}}', /cannot be the name of a webhook/],
    ['title: x', /"title" is not known.*Allowed: acl, debug/],
  ])('refuses %j', (text, message) => {
    expect(errorText(failure(() => readSettings(file(text, 'settings.yaml'))))).toMatch(message);
  });

  test('bounds the names of all lists together', () => {
    const lists = `a: &n [${many(900, (n) => `u${n}`)}], ${many(11, (n) => `r${n}: *n`)}`;
    expect(errorText(failure(() => readSettings(file(`acl: {roles: {${lists}}}`, 'settings.yaml'))))).toBe(
      'settings.yaml:1:6: acl: The lists hold more than 10000 names together',
    );
  });
});

test('readThemeInfo reads a theme.yaml', () => {
  expect(readThemeInfo(file('title: Basic'))).toEqual({ title: 'Basic' });
  expect(readThemeInfo(file(''))).toEqual({});
  expect(failure(() => readThemeInfo(file('titel: x'))).message).toMatch(/did you mean "title"/);
});
