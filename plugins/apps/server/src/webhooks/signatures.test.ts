import { createHmac, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { type HeaderOf, type SignedHeaders, signed, standardKey, verifyHex, verifyStandard } from '.';

const NOW = Math.floor(Date.now() / 1000) * 1000;
const secret = `whsec_${randomBytes(24).toString('base64')}`;
const key = standardKey(secret) as Buffer;

const of =
  (headers: Partial<SignedHeaders> & Record<string, string | undefined>): HeaderOf =>
  (name) =>
    headers[name] ?? null;

const bodies: [string, Buffer][] = [
  ['an object', Buffer.from('{"a": 1}')],
  ['nothing', Buffer.alloc(0)],
  ['letters beyond ASCII', Buffer.from('{"name": "Müller, 李, 🙂"}')],
  ['a form', Buffer.from('a=1.5&b=%20x')],
];

describe('Standard Webhooks', () => {
  test.each(bodies)('what is signed is right for the library: %s', (_, body) => {
    const headers = signed(key, 'msg_1', body, NOW);
    new Webhook(secret).verify(body, { ...headers }, { jsonParse: false });
    expect(() => new Webhook(secret).verify(`${body}x`, { ...headers }, { jsonParse: false })).toThrow(/signature/);
  });

  test.each(bodies)('what the library signs is right: %s', (_, body) => {
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(NOW / 1000),
      'webhook-signature': new Webhook(secret).sign('msg_1', new Date(NOW), body),
    };
    expect(verifyStandard(key, of(headers), body, NOW)).toEqual({ id: 'msg_1' });
  });

  const body = Buffer.from('{"a":1}');
  const right = signed(key, 'msg_1', body, NOW);
  const other = signed(Buffer.from('another key'), 'msg_1', body, NOW)['webhook-signature'];
  const [, digest = ''] = right['webhook-signature'].split(',');

  test.each<[string, Partial<SignedHeaders>]>([
    ['one of several signatures', { 'webhook-signature': `${other} ${right['webhook-signature']}` }],
    ['signatures of other versions beside it', { 'webhook-signature': `v1a,xyz ${right['webhook-signature']} v2,a` }],
    ['the oldest time', signed(key, 'msg_1', body, NOW - 300_000)],
    ['the newest time', signed(key, 'msg_1', body, NOW + 300_000)],
  ])('takes %s', (_, headers) => {
    expect(verifyStandard(key, of({ ...right, ...headers }), body, NOW)).toEqual({ id: 'msg_1' });
  });

  test.each<[string, Partial<Record<keyof SignedHeaders, string | undefined>>, RegExp]>([
    ['no id', { 'webhook-id': undefined }, /each of the headers/],
    ['no time', { 'webhook-timestamp': undefined }, /each of the headers/],
    ['no signature', { 'webhook-signature': undefined }, /each of the headers/],
    ['an empty signature', { 'webhook-signature': '' }, /wrong/],
    ['an empty signature of the version', { 'webhook-signature': 'v1,' }, /wrong/],
    ['a signature without its version', { 'webhook-signature': digest }, /wrong/],
    ['a signature of another version', { 'webhook-signature': `v2,${digest}` }, /wrong/],
    ['signatures with commas between them', { 'webhook-signature': `${other},${right['webhook-signature']}` }, /wrong/],
    ['a signature with another key', { 'webhook-signature': other }, /wrong/],
    ['a cut signature', { 'webhook-signature': right['webhook-signature'].slice(0, -4) }, /wrong/],
    [
      'a signature as hexadecimal digits',
      { 'webhook-signature': `v1,${Buffer.from(digest, 'base64').toString('hex')}` },
      /wrong/,
    ],
    ['another id', { 'webhook-id': 'msg_2' }, /wrong/],
    ['an id with a full stop', { 'webhook-id': 'msg.1' }, /no "\."/],
    ['an empty id', { 'webhook-id': '' }, /255/],
    ['a long id', { 'webhook-id': 'x'.repeat(256) }, /255/],
    ['an old time', signed(key, 'msg_1', body, NOW - 301_000), /too old/],
    ['a time in the future', signed(key, 'msg_1', body, NOW + 301_000), /future/],
    ['another time', { 'webhook-timestamp': String(NOW / 1000 - 1) }, /wrong/],
    ['a time with a sign', { 'webhook-timestamp': `+${NOW / 1000}` }, /seconds/],
    ['a time with decimals', { 'webhook-timestamp': `${NOW / 1000}.0` }, /seconds/],
    ['a time as a text', { 'webhook-timestamp': new Date(NOW).toISOString() }, /seconds/],
    ['milliseconds', { 'webhook-timestamp': String(NOW) }, /seconds/],
  ])('refuses %s', (_, headers, message) => {
    const found = verifyStandard(key, of({ ...right, ...headers }), body, NOW);
    expect(found).toEqual({ refused: expect.stringMatching(message) });
  });

  test('the id, the time and the body cannot change their borders', () => {
    const text = Buffer.from(`${NOW / 1000}.x`);
    const headers = signed(key, 'a', text, NOW);
    const moved = { ...headers, 'webhook-id': `a.${NOW / 1000}` };
    expect(verifyStandard(key, of(moved), Buffer.from('x'), NOW)).toHaveProperty('refused');
  });

  test.each([
    ['whsec_', null],
    ['', null],
    ['whsec_***', null],
    ['whsec_YQ', Buffer.from('a')],
    ['whsec_YQ==', Buffer.from('a')],
    ['YQ==', Buffer.from('a')],
    ['whsec_YQ=', null],
    ['WHSEC_YQ==', null],
  ])('the key of the secret %j', (given, expected) => {
    expect(standardKey(given)).toEqual(expected);
  });
});

describe('a digest in a header', () => {
  const body = Buffer.from('{"zen": "ü"}');
  const hex = createHmac('sha256', 'it is a secret').update(body).digest('hex');
  const scheme = { header: 'x-hub-signature-256', prefix: 'sha256=' };
  const verify = (value: string | null, sent = body) => verifyHex('it is a secret', scheme, () => value, sent);

  test.each([
    ['the digest', `sha256=${hex}`],
    ['upper-case digits', `sha256=${hex.toUpperCase()}`],
  ])('takes %s', (_, value) => expect(verify(value)).toEqual({ id: null }));

  test('takes the digest alone where no prefix is declared', () => {
    expect(verifyHex('it is a secret', { header: 'x-signature', prefix: '' }, () => hex, body)).toEqual({ id: null });
  });

  test.each<[string, string | null]>([
    ['no header', null],
    ['an empty one', ''],
    ['the prefix alone', 'sha256='],
    ['no prefix', hex],
    ['another prefix', `sha1=${hex}`],
    ['the prefix in capitals', `SHA256=${hex}`],
    ['a cut digest', `sha256=${hex.slice(2)}`],
    ['a longer digest', `sha256=${hex}00`],
    ['a space', `sha256= ${hex}`],
    ['two digests', `sha256=${hex}, sha256=${hex}`],
    ['base64', `sha256=${Buffer.from(hex, 'hex').toString('base64')}`],
    ['letters that are no digits', `sha256=${hex.replace(/./g, 'g')}`],
    ['the digest of another secret', `sha256=${createHmac('sha256', '').update(body).digest('hex')}`],
  ])('refuses %s', (_, value) => expect(verify(value)).toHaveProperty('refused'));

  test('refuses another body', () => expect(verify(`sha256=${hex}`, Buffer.from('{}'))).toHaveProperty('refused'));
});
