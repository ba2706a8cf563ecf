import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { valueKinds } from '../../../../shared/admin-api';
import type { Json } from '../../../../shared/json';
import { localeFor } from '../locales';
import { patternWork } from '../patterns';
import { elementTypes, itemSchema, textsCompared, textsShown } from '.';
import { elementOf } from './testing/element';
import type { ElementType, Read, ReadRequest } from './types';

type Given = Record<string, unknown>;

const colors = [
  { value: 'red', label: 'Red <1>' },
  { value: 2, label: 'Two' },
];

const site = { id: 'site', title: 'Site', url: 'http://x/site', theme: 'main', locale: null, timeZone: null };
const locale = await localeFor(site, new Map());

function read(type: string, submitted: string[], extra: Given = {}) {
  const definition = elementOf(type, { options: colors, ...extra });
  const result = (elementTypes.get(type) as ElementType).read?.(submitted, definition, {
    options: colors,
    work: undefined,
    request: null,
  }) as Exclude<Read, { wrong: unknown }> | undefined;
  return result && 'error' in result ? { error: locale.say(result.error.key, result.error.values) } : result;
}

const schemas = addFormats(new Ajv2020({ strict: false })).addFormat('idn-email', /^[^@\s]+@[^@\s]+$/);

describe('what a browser sends for a stored value that is left alone', () => {
  test.each<[string, Json, string[], Given?]>([
    ['TEXT', 'a\nb', ['ab']],
    ['TEXT', 'half \ud800', ['half \ufffd']],
    ['TEXT', { a: 1 }, ['{"a":1}']],
    ['HIDDEN', 'a\nb', ['a\r\nb']],
    ['TEXTAREA', 'a\rb\r\nc', ['a\r\nb\r\nc']],
    ['MARKDOWN', 'a\n', ['a\r\n']],
    ['EMAIL', ' anna@example.org\n', ['anna@example.org']],
    ['URL', 'https://example.org/ ', ['https://example.org/']],
    ['TEL', '030\n12', ['03012']],
    ['NUMBER', '1,5', ['1,5']],
    ['NUMBER', 1.5, ['1.50']],
    ['NUMBER', null, []],
    ['DATE', '01.03.2026', ['01.03.2026']],
    ['DATE', '2026-03-01T09:30', ['2026-03-01']],
    // Browsers write a time in its shortest form.
    ['DATETIME', '2026-03-01T09:30:00.000Z', ['2026-03-01T10:30']],
    ['DATETIME', '2026-03-01T09:30:00', ['2026-03-01T09:30']],
    ['TIME', '9:30', ['9:30']],
    ['TIME', '09:30:00', ['09:30']],
    ['BOOLEAN', 'TRUE', ['1']],
    ['BOOLEAN', 'maybe', []],
    ['BOOLEAN', null, []],
    ['SELECT', 'green', ['green']],
    ['SELECT', null, ['']],
    ['SELECT', ['red'], ['red']],
    ['SELECT', ['red', 2], ['["red",2]']],
    ['SELECT', ['green', 'red'], ['red', 'green'], { multiple: true }],
    ['SELECT', 'red', ['red'], { multiple: true }],
    ['RADIO', null, []],
    ['CHECKBOXES', ['b', 'a', 'a'], ['a', 'b']],
    ['CHECKBOXES', [{ id: 1 }], ['{"id":1}']],
    ['REFERENCE', 'gone', ['gone']],
    ['REFERENCE', ['b', 'a'], ['a', 'b', ''], { multiple: true }],
    ['FILE', 'old.png', ['']],
    ['FILE', { documentId: 'x', name: 'a', mime: 'b', url: '/c', size: 1, id: 1 }, ['stored:x']],
  ])('%s %j: %j', (type, value, sent, extra = {}) => {
    const definition = elementOf(type, extra);
    const region = { tag: 'en', timeZone: 'Europe/Berlin' };
    expect(textsCompared(definition, sent)).toEqual(textsShown(definition, value, region));
  });
});

test('a date and time with a zone is never what a control has sent', () => {
  const region = { tag: 'en', timeZone: 'Europe/Berlin' };
  const [stored, sent] = ['2026-03-01T09:30:00Z', '2026-03-01T10:30:00Z'];
  expect(textsCompared(elementOf('DATETIME'), [sent])).not.toEqual(textsShown(elementOf('DATETIME'), stored, region));
});

describe('read', () => {
  test.each<[string, string[], Given, Json]>([
    ['TEXT', ['  as is '], {}, '  as is '],
    ['TEXT', [], {}, ''],
    ['TEXT', ['abc'], { minlength: 3, maxlength: 3, pattern: '[a-c]+' }, 'abc'],
    ['TEXT', [''], { minlength: 3, pattern: 'x' }, ''],
    ['TEXTAREA', ['a\r\nb\rc'], {}, 'a\nb\nc'],
    ['EMAIL', [' eric@example.org '], {}, 'eric@example.org'],
    ['EMAIL', ['\u200beric@example.org\u00a0\u200b'], {}, 'eric@example.org'],
    ['TEL', ['\u202a+49 123 456\u202c'], {}, '+49 123 456'],
    ['TEXT', ['\u200b'], {}, '\u200b'],
    ['TEXT', ['می\u200cخواهم'], { required: true }, 'می\u200cخواهم'],
    ['TEXT', ['👩\u200d👧'], { required: true }, '👩\u200d👧'],
    ['EMAIL', ['anna@müller.de'], {}, 'anna@müller.de'],
    ['EMAIL', ['anna@xn--mller-kva.de'], {}, 'anna@xn--mller-kva.de'],
    ['EMAIL', ['info@почта.рф'], {}, 'info@почта.рф'],
    ['EMAIL', ['a@例え。テスト'], {}, 'a@例え。テスト'],
    ['URL', ['https://example.org/a?b=c#d'], {}, 'https://example.org/a?b=c#d'],
    ['HIDDEN', ['x'], {}, 'x'],
    ['NUMBER', [''], {}, null],
    ['NUMBER', [], {}, null],
    ['NUMBER', [' -1.5e2 '], {}, -150],
    ['NUMBER', ['-0'], {}, 0],
    ['NUMBER', ['1.'], {}, 1],
    ['NUMBER', ['.5e1'], {}, 5],
    ['NUMBER', ['9007199254740992'], {}, 9007199254740992],
    ['NUMBER', ['100000000000000000000.'], {}, 1e20],
    ['NUMBER', ['+0.0e-400'], {}, 0],
    ['NUMBER', ['3.14159265358979323846'], {}, Math.PI],
    ['NUMBER', ['0.3'], { step: 0.1 }, 0.3],
    ['NUMBER', ['150000.01'], { step: 0.01 }, 150000.01],
    ['NUMBER', ['1234567.3'], { min: 0.1, step: 0.1 }, 1234567.3],
    ['NUMBER', ['7'], { min: 1, step: 3 }, 7],
    ['DATE', ['2024-02-29'], { min: '2024-02-29' }, '2024-02-29'],
    ['DATE', [''], {}, null],
    ['DATETIME', ['2024-02-29T23:59'], {}, '2024-02-29T23:59'],
    ['DATETIME', ['2024-02-29T23:59:58.5+02:00'], {}, '2024-02-29T23:59:58.5+02:00'],
    ['TIME', ['09:30'], { min: '09:00', max: '17:00', step: 900 }, '09:30'],
    ['TIME', [' 23:59:59.5 '], {}, '23:59:59.5'],
    ['TIME', [''], {}, null],
    ['TEL', [' +44 (0)20 7946-0000 '], {}, '+44 (0)20 7946-0000'],
    ['TEL', ['030/123456 ext. 12'], {}, '030/123456 ext. 12'],
    ['TEL', [''], {}, ''],
    ['MARKDOWN', ['# a\r\n*b*'], {}, '# a\n*b*'],
    ['BOOLEAN', [], {}, false],
    ['BOOLEAN', ['1'], {}, true],
    ['BOOLEAN', ['on'], {}, true],
    ['BOOLEAN', ['0'], {}, false],
    ['SELECT', ['2'], {}, 2],
    ['SELECT', [''], {}, null],
    ['SELECT', ['2', 'red', '2'], { multiple: true }, ['red', 2]],
    ['RADIO', ['red'], {}, 'red'],
    ['RADIO', [], {}, null],
    ['CHECKBOXES', [], {}, []],
    ['CHECKBOXES', ['2'], {}, [2]],
  ])('%s accepts %j with %j', (type, submitted, extra, value) => {
    expect(read(type, submitted, extra)).toEqual({ value });
    const schema = itemSchema(elementOf(type, { options: colors, ...extra }));
    expect(schemas.validate(schema as object, value), schemas.errorsText()).toBe(true);
  });

  test.each<[string, string[], Given, RegExp]>([
    ['TEXT', [], { required: true }, /fill in/],
    ['TEXT', ['  '], { required: true }, /fill in/],
    ...['TEXT', 'TEXTAREA', 'MARKDOWN', 'HIDDEN', 'EMAIL', 'TEL', 'URL'].flatMap((type) =>
      [
        ' \n\u00a0',
        '\u200b',
        '\u3164',
        '\u00ad\u2060\ufeff',
        '\u2800',
        '\u202a \u202c',
        '\ufe0f',
        '\u115f\u034f\u{e0100}',
      ].map((text): [string, string[], Given, RegExp] => [type, [text], { required: true }, /fill in/]),
    ),
    ['TEXT', ['ab'], { minlength: 3 }, /at least 3 characters/],
    ['TEXT', ['ab'], { maxlength: 1 }, /at most 1 character\./],
    ['TEXT', ['xab'], { pattern: 'a|ab' }, /requested format/],
    ['TEXTAREA', ['\n'], { required: true }, /fill in/],
    ['EMAIL', ['eric'], {}, /e-mail/],
    ['EMAIL', ['eric@'], {}, /e-mail/],
    ['EMAIL', ['a@b@c'], {}, /e-mail/],
    ['EMAIL', ['anna@mü ller.de'], {}, /e-mail/],
    ['EMAIL', ['anna@mü_ller.de'], {}, /e-mail/],
    ['EMAIL', ['anna@-müller.de'], {}, /e-mail/],
    ['EMAIL', ['anna@müller.de/x'], {}, /e-mail/],
    ['EMAIL', ['anna@müller..de'], {}, /e-mail/],
    ['EMAIL', ['änna@müller.de'], {}, /e-mail/],
    ['EMAIL', ['anna@ü<script>.de'], {}, /e-mail/],
    ['EMAIL', [`a@${'ü'.repeat(64)}.de`], {}, /e-mail/],
    ['EMAIL', [`a@${'ü.'.repeat(100)}de`], {}, /e-mail/],
    ['EMAIL', [`${'a'.repeat(65)}@b.c`], {}, /e-mail/],
    ['URL', ['javascript:alert(1)'], {}, /http/],
    ['URL', ['//example.org'], {}, /http/],
    ['URL', ['http://'], {}, /http/],
    ['URL', ['http://a b'], {}, /http/],
    ['NUMBER', ['1,5'], {}, /a number/],
    ['NUMBER', ['0x10'], {}, /a number/],
    ['NUMBER', ['Infinity'], {}, /a number/],
    ['NUMBER', ['1e999'], {}, /a number/],
    // The check takes linear time.
    ['NUMBER', [`${'1'.repeat(500_000)}x`], {}, /a number/],
    ...['9007199254740993', '-9007199254740993', '+09007199254740993.', '1e-400', '+.1e-400'].map(
      (text): [string, string[], Given, RegExp] => ['NUMBER', [text], {}, /stored exactly/],
    ),
    ['NUMBER', ['1'], { min: 2 }, /2 or more/],
    ['NUMBER', ['3'], { max: 2 }, /2 or less/],
    ['NUMBER', ['3'], { min: 1, step: 3 }, /steps of 3 from 1/],
    ['NUMBER', ['12345678.01'], { step: 1 }, /steps of 1/],
    ['NUMBER', ['150000.0001'], { step: 0.01 }, /steps of 0.01/],
    ['NUMBER', [''], { required: true }, /fill in/],
    ['DATE', ['2023-02-29'], {}, /a date/],
    ['DATE', ['2023-13-01'], {}, /a date/],
    ['DATE', ['2023-01-01T10:00'], {}, /a date/],
    ['DATE', ['2023-01-01'], { min: '2023-01-02' }, /2023-01-02 or more/],
    ['DATETIME', ['2023-01-01'], {}, /date and time/],
    ['DATETIME', ['2026-03-01T09:30:01'], { step: 60 }, /steps of 60/],
    ['DATETIME', ['2026-03-01T09:31'], { step: 900 }, /steps of 900/],
    ['DATETIME', ['2023-01-01T24:00'], {}, /date and time/],
    ['DATETIME', ['2023-01-01T10:00+15:00'], {}, /date and time/],
    ['TIME', ['24:00'], {}, /a time/],
    ['TIME', ['9:30'], {}, /a time/],
    ['TIME', ['2024-01-01T10:00'], {}, /a time/],
    ['TIME', ['08:59'], { min: '09:00' }, /09:00 or more/],
    ['TIME', ['09:10'], { min: '09:00', step: 900 }, /steps of 900/],
    ['TEL', ['12'], {}, /telephone/],
    ['TEL', ['call me'], {}, /telephone/],
    ['TEL', ['1'.repeat(21)], {}, /telephone/],
    ['TEL', [`${'1 '.repeat(500_000)}x`], {}, /telephone/],
    ['MARKDOWN', ['x'.repeat(100_001)], {}, /at most 100,000/],
    ['MARKDOWN', ['x'.repeat(100_001)], { maxlength: 200_000 }, /at most 100,000/],
    ['BOOLEAN', [], { required: true }, /check this box/],
    ['SELECT', ['blue'], {}, /one of the options/],
    ['SELECT', [''], { required: true }, /choose an option/i],
    ['SELECT', ['red', 'blue'], { multiple: true }, /options only/],
    ['RADIO', ['__proto__'], {}, /one of the options/],
    ['CHECKBOXES', ['blue'], {}, /options only/],
    ['CHECKBOXES', [], { required: true }, /at least one/],
  ])('%s refuses %.60j with %j', (type, submitted, extra, message) => {
    expect(read(type, submitted, extra)).toEqual({ error: expect.stringMatching(message) });
  });

  test.each<[zone: string | null, submitted: string, settings: Given, error: RegExp | null]>([
    ['America/New_York', '2026-12-01T04:30-05:00', { min: '2026-12-01T09:00' }, /2026-12-01T09:00 or more/],
    ['America/New_York', '2026-12-01T09:30-05:00', { min: '2026-12-01T09:00' }, null],
    ['Europe/Berlin', '2026-12-01T08:00:00.000Z', { min: '2026-12-01T09:00' }, null],
    ['Europe/Berlin', '2026-12-01T07:59:59Z', { min: '2026-12-01T09:00' }, /or more/],
    ['Europe/Berlin', '2026-12-01T16:00:01Z', { max: '2026-12-01T17:00' }, /or less/],
    ['Europe/Berlin', '2026-12-01T17:00', { max: '2026-12-01T17:00' }, null],
    ['Asia/Kathmandu', '2026-12-01T03:15Z', { step: 3600 }, null],
    ['Asia/Kathmandu', '2026-12-01T03:00Z', { step: 3600 }, /steps of 3600/],
  ])('a DATETIME in %s compares %s with %j by the clock of the site', (timeZone, text, settings, error) => {
    const request = { region: { tag: 'en', timeZone } } as ReadRequest;
    const context = { options: [], work: undefined, request };
    const result = elementTypes.get('DATETIME')?.read?.([text], elementOf('DATETIME', settings), context) as Read;
    if ('error' in result) expect(locale.say(result.error.key, result.error.values)).toMatch(error ?? 'no error');
    else expect([result, error]).toEqual([{ value: text }, null]);
  });

  test('stops when the steps that inputs share are used up', () => {
    const work = patternWork();
    const pattern = `${'(a|a)*'.repeat(160)}b`;
    const results = Array.from({ length: 30 }, () =>
      elementTypes
        .get('TEXT')
        ?.read?.(['a'.repeat(3999)], elementOf('TEXT', { pattern }), { options: [], work, request: null }),
    );
    expect(results).toEqual(Array(30).fill({ error: { key: 'pattern_work' } }));
    // The cost of a step is bounded, so that the steps bound the time of all thirty.
    expect(work.left).toBeGreaterThan(-100_000);
  });
});

test('a picture of the media library is bounded by max_pixels, as a new one is', () => {
  const size = { size: 1, width: 100, height: 11 };
  const named = { id: 1, documentId: 'd', name: 'a.png', url: '/a.png', mime: 'image/png', ...size };
  const files = (maxPixels: number) =>
    elementTypes
      .get('IMAGE')
      ?.files?.read({ stored: [], named: [named], uploaded: [] }, elementOf('IMAGE', { maxPixels }));
  expect(files(1_100)).toEqual({ files: [named] });
  const values = { pixels: 1_099, name: 'a.png' };
  expect(files(1_099)).toEqual({ error: { key: 'file_pixels', values } });
});

describe('files of a draft and new ones', () => {
  const named = (name: string) => ({ id: 1, documentId: name, name, url: `/${name}`, mime: 'text/plain', size: 1 });
  const chosen = (name: string) => {
    const scope = { site: 'site', app: 'a', field: 'f' };
    return {
      ...scope,
      token: name,
      path: name,
      name,
      chosen: name,
      mime: 'text/plain',
      size: 1,
      digest: '',
      pixels: null,
    };
  };
  const [old, other, fresh, second] = [named('old.txt'), named('other.txt'), chosen('new.txt'), chosen('second.txt')];
  const one = { error: { key: 'file_one' } };

  test.each([
    ['a file that stays', false, [old], [], { files: [old] }],
    ['a new file replaces it', false, [old], [fresh], { files: [fresh] }],
    ['two that stay', false, [old, other], [], one],
    ['two new ones', false, [old], [fresh, second], one],
    ['a new file is added with `multiple`', true, [old], [fresh], { files: [old, fresh] }],
  ])('%s', (_title, multiple, stays, uploaded, expected) => {
    const definition = elementOf('FILE', { multiple });
    const files = elementTypes.get('FILE')?.files;
    expect(files?.read({ stored: [], named: stays, uploaded }, definition)).toEqual(expected);
  });
});

test('the panel knows what the values of each type are', () => {
  const kinds = [...elementTypes].flatMap(([name, { cell, isLink }]) => {
    const isKnown = cell === 'number' || cell === 'boolean' || cell === 'date' || cell === 'datetime';
    return isLink ? [[name, 'link']] : isKnown ? [[name, cell]] : [];
  });
  expect(valueKinds).toEqual(Object.fromEntries(kinds));
});
