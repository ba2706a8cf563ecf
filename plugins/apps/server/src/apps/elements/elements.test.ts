import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../shared/json';
import { localeFor } from '../locales';
import { patternWork } from '../patterns/pattern-machine';
import type { ElementDefinition } from '../types';
import { builtInActions, elementTypes, itemSchema } from '.';
import type { ElementType } from './types';

const position = { file: 'x.yaml' };
const colors = [
  { value: 'red', label: 'Red <1>' },
  { value: 2, label: 'Two' },
];

const site = { id: 'site', title: 'Site', url: 'http://x/site', theme: 'main', locale: null, timeZone: null };
const locale = await localeFor(site, new Map());

function read(type: string, submitted: string[], extra: Partial<ElementDefinition> = {}) {
  const definition: ElementDefinition = { name: 'a', type, position, options: colors, ...extra };
  const result = (elementTypes.get(type) as ElementType).read?.(submitted, definition, colors);
  return result && 'error' in result ? { error: locale.say(result.error.key, result.error.values) } : result;
}

const schemas = addFormats(new Ajv2020({ strict: false }));

describe('read', () => {
  test.each<[string, string[], Partial<ElementDefinition>, Json]>([
    ['TEXT', ['  as is '], {}, '  as is '],
    ['TEXT', [], {}, ''],
    ['TEXT', ['abc'], { minlength: 3, maxlength: 3, pattern: '[a-c]+' }, 'abc'],
    ['TEXT', [''], { minlength: 3, pattern: 'x' }, ''],
    ['TEXTAREA', ['a\r\nb\rc'], {}, 'a\nb\nc'],
    ['EMAIL', [' eric@example.org '], {}, 'eric@example.org'],
    ['URL', ['https://example.org/a?b=c#d'], {}, 'https://example.org/a?b=c#d'],
    ['HIDDEN', ['x'], {}, 'x'],
    ['NUMBER', [''], {}, null],
    ['NUMBER', [], {}, null],
    ['NUMBER', [' -1.5e2 '], {}, -150],
    ['NUMBER', ['-0'], {}, 0],
    ['NUMBER', ['1.'], {}, 1],
    ['NUMBER', ['.5e1'], {}, 5],
    ['NUMBER', ['0.3'], { step: 0.1 }, 0.3],
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
    const schema = itemSchema({ name: 'a', type, position, options: colors, ...extra });
    expect(schemas.validate(schema as object, value), schemas.errorsText()).toBe(true);
  });

  test.each<[string, string[], Partial<ElementDefinition>, RegExp]>([
    ['TEXT', [], { required: true }, /fill in/],
    ['TEXT', ['  '], { required: true }, /fill in/],
    ['TEXT', ['ab'], { minlength: 3 }, /at least 3 characters/],
    ['TEXT', ['ab'], { maxlength: 1 }, /at most 1 character\./],
    ['TEXT', ['xab'], { pattern: 'a|ab' }, /requested format/],
    ['TEXTAREA', ['\n'], { required: true }, /fill in/],
    ['EMAIL', ['eric'], {}, /e-mail/],
    ['EMAIL', ['eric@'], {}, /e-mail/],
    ['EMAIL', ['a@b@c'], {}, /e-mail/],
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
    ['NUMBER', ['1'], { min: 2 }, /2 or more/],
    ['NUMBER', ['3'], { max: 2 }, /2 or less/],
    ['NUMBER', ['3'], { min: 1, step: 3 }, /steps of 3 from 1/],
    ['NUMBER', [''], { required: true }, /fill in/],
    ['DATE', ['2023-02-29'], {}, /a date/],
    ['DATE', ['2023-13-01'], {}, /a date/],
    ['DATE', ['2023-01-01T10:00'], {}, /a date/],
    ['DATE', ['2023-01-01'], { min: '2023-01-02' }, /2023-01-02 or more/],
    ['DATETIME', ['2023-01-01'], {}, /date and time/],
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

  test('stops when the steps that inputs share are used up', () => {
    const work = patternWork();
    const pattern = `${'(a|a)*'.repeat(160)}b`;
    const results = Array.from({ length: 30 }, () =>
      elementTypes.get('TEXT')?.read?.(['a'.repeat(3999)], named({ pattern }), [], work),
    );
    expect(results).toEqual(Array(30).fill({ error: { key: 'pattern_work' } }));
    // The cost of a step is bounded, so that the steps bound the time of all thirty.
    expect(work.left).toBeGreaterThan(-100_000);
  });
});

describe('JSON Schema of items', () => {
  const schemaOf = (type: string, extra: Partial<ElementDefinition> = {}) =>
    itemSchema({ name: 'a', type, position, ...extra });

  const entry = new Map([['n', { name: 'n', type: 'TEXT', position }]]);

  const stored = { id: 1, documentId: 'a', name: 'a.pdf', url: '/uploads/a.pdf', mime: 'application/pdf', size: 3 };

  test.each<[string, Partial<ElementDefinition>, Json]>([
    ['FILE', {}, stored],
    ['FILE', {}, null],
    ['IMAGE', { required: true }, { ...stored, width: 1, height: 1 }],
    ['FILE', { multiple: true }, []],
    ['FILE', { multiple: true, required: true }, [stored]],
    ['REFERENCE', { app: 'a' }, null],
    ['REFERENCE', { app: 'a', required: true }, 'x'],
    ['REFERENCE', { app: 'a', multiple: true }, ['1', '2']],
    ['REPEAT', { entry, min: 1 }, [{ n: 'a' }]],
    ['REPEAT', { entry }, []],
  ])('of %s with %j allows %j', (type, extra, value) => {
    expect(schemas.validate(schemaOf(type, extra) as object, value), schemas.errorsText()).toBe(true);
  });

  test('every input has one', () => {
    const inputs = [...elementTypes].filter(([, { role }]) => role === 'input');
    expect(inputs.filter(([, { schema }]) => !schema).map(([name]) => name)).toEqual([]);
  });

  test.each<[string, Partial<ElementDefinition>, Json]>([
    ['FILE', { required: true }, null],
    ['FILE', {}, 'a.pdf'],
    ['FILE', { multiple: true, required: true }, []],
    ['TEXT', {}, null],
    ['TEXT', { required: true }, ''],
    ['TEXT', { minlength: 3 }, 'ab'],
    ['TEXT', { pattern: 'a|b' }, 'ab'],
    ['EMAIL', {}, 'eric'],
    ['URL', {}, 'a b'],
    ['NUMBER', {}, '3'],
    ['NUMBER', { required: true }, null],
    ['NUMBER', { max: 2 }, 3],
    ['DATE', {}, '2024-02-30'],
    ['DATETIME', {}, '2024-02-29'],
    ['BOOLEAN', {}, 'on'],
    ['SELECT', { options: colors }, 'blue'],
    ['RADIO', { options: colors, required: true }, null],
    ['CHECKBOXES', { options: colors }, 'red'],
    ['SELECT', { options: colors, multiple: true }, ['red', 'red']],
    ['REFERENCE', { app: 'a' }, ''],
    ['REFERENCE', { app: 'a', required: true }, null],
    ['REFERENCE', { app: 'a', multiple: true }, ['1', '1']],
    ['REFERENCE', { app: 'a', multiple: true }, null],
    ['REPEAT', { entry }, [{}]],
    ['REPEAT', { entry }, [{ n: 1 }]],
    ['REPEAT', { entry, min: 1 }, []],
    ['REPEAT', { entry, max: 1 }, [{ n: '' }, { n: '' }]],
    ['REPEAT', { entry }, null],
  ])('%s with %j refuses %j', (type, extra, value) => {
    expect(schemas.validate(schemaOf(type, extra) as object, value)).toBe(false);
  });

  test.each<[string, Partial<ElementDefinition>, object | null]>([
    ['ACTION', {}, null],
    ['BASIC', {}, null],
    ['BASIC', { mode: 'COMPUTED_ON_SAVE' }, {}],
    ['NUMBER', { mode: 'COMPUTED_ON_CREATION' }, {}],
  ])('%s with %j is %j', (type, extra, schema) => {
    expect(schemaOf(type, extra)).toEqual(schema);
  });
});

function render(type: string, value: Json, extra: Partial<Parameters<NonNullable<ElementType['render']>>[0]> = {}) {
  const definition: ElementDefinition = { name: 'a', type, position, ...extra.definition };
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
  return elementTypes.get(type)?.render?.(view);
}

const evil = `"><script>alert('x')</script>&`;
const named = (more: Partial<ElementDefinition>): ElementDefinition => ({ name: 'a', type: '', position, ...more });

describe('render', () => {
  const inputs = [...elementTypes].filter(([, { role, render }]) => role === 'input' && render).map(([name]) => name);

  test.each(inputs.flatMap((type) => [[type, 'input'] as const, [type, 'text'] as const]))(
    '%s escapes values and captions in %s mode',
    (type, mode) => {
      const definition = { ...named({ label: evil, help: evil, placeholder: evil }), type };
      for (const [value, entered] of [
        [evil, null],
        [[evil], null],
        [{ x: evil }, null],
        [null, [evil]],
      ] as const) {
        const html = render(type, value as Json, { mode, definition, entered, error: evil });
        expect(html).not.toMatch(/<script|="[^"]*&lt;script[^"]*'/);
      }
    },
  );

  test.each(inputs)('%s connects label, help and error to its control', (type) => {
    const html =
      render(type, null, { definition: { ...named({ label: 'Name', help: 'Help' }), type }, error: 'Wrong' }) ?? '';
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

  test.each(inputs.filter((type) => type !== 'HIDDEN'))('%s has a name for screen readers without a label', (type) => {
    expect(render(type, null)).toContain('aria-label="a"');
  });

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
  ])('%s shows %j as %j', (type, value, extra, expected) => {
    expect(render(type, value, extra)).toContain(expected);
  });

  test.each<[string, Json, Parameters<typeof render>[2], string[]]>([
    ['TIME', '09:30:15', {}, ['type="time" value="09:30:15"']],
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
  ])('%s shows %j with its keys', (type, value, extra, expected) => {
    const html = render(type, value, extra);
    for (const part of expected) expect(html).toContain(part);
  });

  test('a field that a visitor cannot change demands nothing', () => {
    const html = render('TEXT', '', {
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
    ['SELECT', 2, 'Two'],
    ['RADIO', 'gone', 'gone'],
    ['CHECKBOXES', ['red', 2], 'Red &lt;1&gt;, Two'],
  ])('%s reads %j as %j', (type, value, expected) => {
    expect(render(type, value, { mode: 'text' })).toBe(expected);
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
  ])('the action %s with label %s is a button', (name, label, expected) => {
    expect(render('ACTION', null, { definition: { name, type: 'ACTION', label, position } })).toBe(expected);
  });

  test.each([
    ['en', 'Keep <a href="/f">a&amp;$&amp;.pdf</a> (3 bytes)'],
    ['de', '<a href="/f">a&amp;$&amp;.pdf</a> behalten (3 Byte)'],
    ['fr', 'Garder <a href="/f">a&amp;$&amp;.pdf</a> (3 octets)'],
    ['es', 'Conservar <a href="/f">a&amp;$&amp;.pdf</a> (3 bytes)'],
  ])('a file of a form is kept in the language %s', async (language, label) => {
    const files = [{ entry: 'stored:d', name: 'a&$&.pdf', size: 3, url: '/f' }];
    const html = render('FILE', null, { files, locale: await localeFor({ ...site, locale: language }, new Map()) });
    // The kind of space before the unit differs between languages and versions of Node.js.
    expect(html?.replace(/[\u00a0\u202f]/g, ' ')).toContain(`>${label}</label>`);
  });

  test('has three built-in actions', () => {
    expect([...builtInActions.keys()]).toEqual(['_save', '_edit', '_delete']);
  });
});

describe('ids of controls', () => {
  const inputs = [...elementTypes].filter(([, { role, render }]) => role === 'input' && render).map(([name]) => name);
  test.each(inputs)('%s begins all ids with the prefix of its block', (type) => {
    const definition: ElementDefinition = { name: 'a', type, position, label: 'A', help: 'why', options: colors };
    const view = {
      definition,
      mode: 'input' as const,
      value: null,
      entered: null,
      error: 'wrong',
      options: colors,
      locale,
    };
    const html = elementTypes.get(type)?.render?.({ ...view, idPrefix: 'apps-one-two' }) ?? '';
    const ids = [...html.matchAll(/ (?:id|for|aria-describedby)="([^"]*)"/g)].flatMap(([, list]) => list?.split(' '));
    expect(ids).not.toEqual([]);
    expect(ids.filter((id) => !id?.startsWith('apps-one-two-a'))).toEqual([]);
  });
});
