import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../shared/json';
import { localeFor } from '../locales';
import { builtInActions, elementTypes } from '.';
import { elementOf, noServices } from './testing/element';
import type { ElementView } from './types';

const colors = [
  { value: 'red', label: 'Red <1>' },
  { value: 2, label: 'Two' },
];

const site = { id: 'site', title: 'Site', url: 'http://x/site', theme: 'main', locale: null, timeZone: null };
const locale = await localeFor(site, new Map());

async function render(type: string, value: Json, extra: Partial<ElementView> = {}): Promise<string> {
  const definition = extra.definition ?? elementOf(type);
  const view = {
    mode: 'input' as const,
    value,
    entered: null,
    error: null,
    options: colors,
    locale,
    ...extra,
    definition,
  };
  const shown = (await elementTypes.get(type)?.show?.(view, noServices)) ?? '';
  return typeof shown === 'string' ? shown : shown.html;
}

const evil = `"><script>alert('x')</script>&`;
const named = ({ type, ...given }: { type: string } & Record<string, unknown>) => elementOf(type, given);

describe('render', () => {
  const inputs = [...elementTypes]
    .filter(([, { role, show, fields }]) => role === 'input' && show && !fields)
    .map(([name]) => name);

  test.each(inputs.flatMap((type) => [[type, 'input'] as const, [type, 'text'] as const]))(
    '%s escapes values and captions in %s mode',
    async (type, mode) => {
      const definition = named({ label: evil, help: evil, placeholder: evil, type });
      for (const [value, entered] of [
        [evil, null],
        [[evil], null],
        [{ x: evil }, null],
        [null, [evil]],
      ] as const) {
        const html = await render(type, value as Json, { mode, definition, entered, error: evil });
        expect(html).not.toMatch(/<script|="[^"]*&lt;script[^"]*'/);
      }
    },
  );

  test.each(inputs)('%s connects label, help and error to its control', async (type) => {
    const html =
      (await render(type, null, { definition: named({ type, label: 'Name', help: 'Help' }), error: 'Wrong' })) ?? '';
    expect(html).toMatch(/role="alert">Wrong</);
    if (type === 'HIDDEN') return;
    expect(html).toContain('class="apps-field"');
    expect(html).toMatch(/<label for="apps-a">Name<\/label>|<legend>Name<\/legend>/);
    expect(html).toContain('id="apps-a"');
    expect(html).toContain('aria-describedby="apps-a-help apps-a-error"');
    expect(html).toContain('aria-invalid="true"');
    expect(html).toContain('id="apps-a-help">Help<');
    expect(html).toContain('id="apps-a-error"');
  });

  test.each(inputs.filter((type) => type !== 'HIDDEN'))(
    '%s has a name for screen readers without a label',
    async (type) => {
      expect(await render(type, null)).toContain('aria-label="a"');
    },
  );

  test.each<[string, Json, Parameters<typeof render>[2], string]>([
    [
      'TEXT',
      'x',
      { definition: named({ type: 'TEXT', required: true, maxlength: 5 }) },
      '<input id="apps-a" name="a" type="text" value="x" required maxlength="5"',
    ],
    ['TEXTAREA', '\nx', {}, '>\n\nx</textarea>'],
    ['NUMBER', 3, {}, 'type="number" value="3" step="any"'],
    ['NUMBER', 3, { entered: ['abc'] }, 'value="abc"'],
    ['DATETIME', '2024-01-02T03:04:05Z', {}, 'type="datetime-local" value="2024-01-02T03:04:05"'],
    ['DATE', '2024-01-02T03:04', {}, 'type="date" value="2024-01-02"'],
    ['BOOLEAN', true, {}, 'type="checkbox" value="1" checked'],
    ['BOOLEAN', true, { entered: [] }, 'type="checkbox" value="1" aria'],
    [
      'SELECT',
      2,
      {},
      '<option value=""></option><option value="red">Red &lt;1&gt;</option><option value="2" selected>Two</option>',
    ],
    ['RADIO', 'red', {}, '<input id="apps-a-1" name="a" type="radio" value="red" checked> <label for="apps-a-1">'],
    ['CHECKBOXES', ['red'], { entered: ['2'] }, '<input id="apps-a-2" name="a" type="checkbox" value="2" checked>'],
    ['HIDDEN', 'x', {}, '<input id="apps-a" name="a" type="hidden" value="x">'],
    ['NUMBER', '1,5', {}, 'type="text" value="1,5"'],
    ['NUMBER', '007', {}, 'type="number" value="007"'],
    ['NUMBER', '+5', {}, 'type="text" value="+5"'],
    ['DATE', '01.03.2026', {}, 'type="text" value="01.03.2026"'],
    ['DATE', '2026-02-31', {}, 'type="text" value="2026-02-31"'],
    ['DATETIME', '2026-03-01', {}, 'type="text" value="2026-03-01"'],
    ['DATETIME', '2026-03-01T09:30:15.250+02:00', {}, 'type="datetime-local" value="2026-03-01T07:30:15.250"'],
    ['TIME', '9:30', {}, 'type="text" value="9:30"'],
    ['BOOLEAN', 'TRUE', {}, 'value="1" checked'],
    ['BOOLEAN', 'FALSE', {}, 'value="1" aria'],
    ['SELECT', 'green', { stored: 'green' }, '<option value="green" selected>green (no longer offered)</option>'],
    ['SELECT', 'green', { stored: 'green', entered: ['red'] }, '<option value="green">green (no longer offered)'],
    ['SELECT', ['red', 2], { stored: ['red', 2] }, '<option value="[&quot;red&quot;,2]" selected>'],
    ['RADIO', 'green', { stored: 'green' }, 'value="green" checked> <label for="apps-a-3">green (no longer offered)'],
    ['CHECKBOXES', ['green'], { stored: ['green'] }, 'value="green" checked> <label for="apps-a-3">green (no'],
  ])('%s shows %j as %j', async (type, value, extra, expected) => {
    expect(await render(type, value, extra)).toContain(expected);
  });

  test.each<[string, Json, Parameters<typeof render>[2], string[]]>([
    ['TIME', '09:30:15', {}, ['type="time" value="09:30:15" step="any"']],
    ['TIME', '09:30', { definition: named({ type: 'TIME', step: 900 }) }, ['value="09:30" step="900"']],
    ['DATE', '2026-03-01', {}, ['type="date" value="2026-03-01" aria-label']],
    [
      'TEL',
      '1',
      { definition: named({ type: 'TEL', inputmode: 'tel', autocomplete: 'tel' }) },
      ['type="tel"', 'autocomplete="tel" inputmode="tel"'],
    ],
    [
      'TEXTAREA',
      'x',
      { definition: named({ type: 'TEXTAREA', rows: 7, readonly: true, required: true }) },
      ['rows="7"', ' readonly '],
    ],
    ['MARKDOWN', '# x', {}, ['<textarea', '# x']],
    [
      'TEXT',
      'x',
      { definition: named({ type: 'TEXT', label: 'L', required: true, class: 'wide "' }) },
      [
        'class="apps-field wide &quot;"',
        '>L <span class="apps-required" aria-hidden="true">*</span></label>',
        ' required',
      ],
    ],
    [
      'CHECKBOXES',
      [],
      { definition: named({ type: 'CHECKBOXES', label: 'L', required: true }) },
      ['<abbr class="apps-required" title="required">*</abbr></legend>'],
    ],
    ['RADIO', 2, { definition: named({ type: 'RADIO', readonly: true }) }, ['value="2" checked disabled']],
    ['SELECT', 2, { definition: named({ type: 'SELECT', default: 2 }) }, ['><option value="red">']],
    ['SELECT', 2, { hasDefault: true }, ['><option value="red">']],
    ['SELECT', null, { definition: named({ type: 'SELECT', default: 2 }) }, ['><option value=""></option>']],
  ])('%s shows %j with its keys', async (type, value, extra, expected) => {
    const html = await render(type, value, extra);
    for (const part of expected) expect(html).toContain(part);
  });

  test('a field that a visitor cannot change demands nothing', async () => {
    const html = await render('TEXT', '', {
      definition: named({ type: 'TEXT', label: 'L', required: true, readonly: true }),
    });
    expect(html).not.toMatch(/required/);
  });

  test.each<[string, Json, string]>([
    ['TEXT', 'a\nb', 'a<br>b'],
    ['TEXT', null, ''],
    ['TEXT', { a: 1 }, '{&quot;a&quot;:1}'],
    ['NUMBER', 0, '0'],
    ['BOOLEAN', true, 'Yes'],
    ['BOOLEAN', false, 'No'],
    ['BOOLEAN', 'TRUE', 'Yes'],
    ['BOOLEAN', 0, 'No'],
    ['BOOLEAN', '<maybe>', '&lt;maybe&gt;'],
    ['SELECT', 2, 'Two'],
    ['RADIO', 'gone', 'gone'],
    ['CHECKBOXES', ['red', 2], 'Red &lt;1&gt;, Two'],
  ])('%s reads %j as %j', async (type, value, expected) => {
    expect(await render(type, value, { mode: 'text' })).toBe(expected);
  });

  test.each([
    [
      'like',
      'Like',
      '<button type="submit" name="action.like" value="1" class="apps-action" formnovalidate>Like</button>',
    ],
    [
      'like',
      undefined,
      '<button type="submit" name="action.like" value="1" class="apps-action" formnovalidate>like</button>',
    ],
    ['_save', undefined, '<button type="submit" name="_save" value="1" class="apps-action">Save</button>'],
    [
      '_delete',
      '<x>',
      '<button type="submit" name="_delete" value="1" class="apps-action" formnovalidate>&lt;x&gt;</button>',
    ],
  ])('the action %s with label %s is a button', async (name, label, expected) => {
    expect(await render('ACTION', null, { definition: named({ name, type: 'ACTION', label }) })).toBe(expected);
  });

  test.each([
    ['en', 'Keep <a href="/f">a&amp;$&amp;.pdf</a> (3 bytes)'],
    ['de', '<a href="/f">a&amp;$&amp;.pdf</a> behalten (3 Byte)'],
    ['fr', 'Garder <a href="/f">a&amp;$&amp;.pdf</a> (3 octets)'],
    ['es', 'Conservar <a href="/f">a&amp;$&amp;.pdf</a> (3 bytes)'],
  ])('a file of a form is kept in the language %s', async (language, label) => {
    const files = [{ entry: 'stored:d', name: 'a&$&.pdf', size: 3, url: '/f' }];
    const html = await render('FILE', null, {
      files,
      locale: await localeFor({ ...site, locale: language }, new Map()),
    });
    // The kind of space before the unit differs between languages and versions of Node.js.
    expect(html?.replace(/[\u00a0\u202f]/g, ' ')).toContain(`>${label}</label>`);
  });

  test('has four built-in actions', () => {
    expect([...builtInActions.keys()]).toEqual(['_save', '_edit', '_delete', '_draft']);
  });
});

describe('ids of controls', () => {
  const inputs = [...elementTypes]
    .filter(([, { role, show, fields }]) => role === 'input' && show && !fields)
    .map(([name]) => name);
  test.each(inputs)('%s begins all ids with the prefix of its block', async (type) => {
    const definition = named({ type, label: 'A', help: 'why', options: colors });
    const view = {
      definition,
      mode: 'input' as const,
      value: null,
      entered: null,
      error: 'wrong',
      options: colors,
      locale,
    };
    const html = await render(type, null, { ...view, idPrefix: 'apps-one-two' });
    const ids = [...html.matchAll(/ (?:id|for|aria-describedby)="([^"]*)"/g)].flatMap(([, list]) => list?.split(' '));
    expect(ids).not.toEqual([]);
    expect(ids.filter((id) => !id?.startsWith('apps-one-two-a'))).toEqual([]);
  });
});

describe('dates and numbers for reading are in the language of the page', () => {
  test.each([
    ['de', 'DATE', '2026-03-01', '1. März 2026'],
    ['de', 'DATETIME', '2026-03-01T09:30', '1. März 2026, 09:30'],
    ['de', 'DATETIME', '2026-03-01T09:30:00Z', '1. März 2026, 10:30'],
    ['de', 'TIME', '09:30', '09:30'],
    ['de', 'NUMBER', 1234.5, '1.234,5'],
    ['en', 'DATETIME', '2026-03-01T09:30', 'March 1, 2026, 9:30 AM'],
    ['en', 'NUMBER', 0.123456789, '0.123456789'],
    ['de', 'DATE', '<01.03.2026>', '&lt;01.03.2026&gt;'],
    ['de', 'NUMBER', '1,5', '1,5'],
    ['de', 'NUMBER', null, ''],
  ])('%s: %s %j is %s', async (language, type, value, expected) => {
    const page = await localeFor({ ...site, locale: language, timeZone: 'Europe/Berlin' }, new Map());
    expect(await render(type, value, { mode: 'text', locale: page })).toBe(expected);
  });

  test('a number without grouping has no separators', async () => {
    const page = await localeFor({ ...site, locale: 'de' }, new Map());
    const definition = named({ type: 'NUMBER', grouping: false });
    expect(await render('NUMBER', 2026.5, { mode: 'text', locale: page, definition })).toBe('2026,5');
  });

  test.each([
    ['Europe/Berlin', '2026-03-01T09:30:00Z', '2026-03-01T10:30:00'],
    ['Europe/Berlin', '2026-07-01T09:30:00Z', '2026-07-01T11:30:00'],
    ['America/New_York', '2026-03-01T02:30:00Z', '2026-02-28T21:30:00'],
    ['America/New_York', '2026-03-01T09:30', '2026-03-01T09:30'],
  ])('in %s the control of a DATETIME shows %s as %s', async (timeZone, value, expected) => {
    const page = await localeFor({ ...site, timeZone }, new Map());
    expect(await render('DATETIME', value, { locale: page })).toContain(`type="datetime-local" value="${expected}"`);
  });

  test.each([
    ['DATE', '2026-03-01', 'value="2026-03-01"'],
    ['DATETIME', '2026-03-01T09:30', 'value="2026-03-01T09:30"'],
    ['TIME', '09:30', 'value="09:30"'],
    ['NUMBER', 1234.5, 'value="1234.5"'],
  ])('the control of a %s has the stored value', async (type, value, expected) => {
    const page = await localeFor({ ...site, locale: 'de' }, new Map());
    expect(await render(type, value, { locale: page })).toContain(expected);
  });
});
