import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../shared/json';
import type { ElementDefinition } from '../types';
import { builtInActions, elementTypes, toOptions } from '.';
import { compilePattern } from './pattern';
import { patternWork } from './pattern-machine';
import type { ElementType } from './types';

const position = { file: 'x.yaml' };
const colors = [
  { value: 'red', label: 'Red <1>' },
  { value: 2, label: 'Two' },
];

function read(type: string, submitted: string[], extra: Partial<ElementDefinition> = {}) {
  const definition: ElementDefinition = { name: 'a', type, position, options: colors, ...extra };
  return (elementTypes.get(type) as ElementType).read?.(submitted, definition, colors);
}

describe('read', () => {
  it.each<[string, string[], Partial<ElementDefinition>, Json]>([
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
  ])('%s takes %j with %j', (type, submitted, extra, value) => {
    expect(read(type, submitted, extra)).toEqual({ value });
  });

  it.each<[string, string[], Partial<ElementDefinition>, RegExp]>([
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
    // Each digit is looked at once.
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
});

function render(type: string, value: Json, extra: Partial<Parameters<NonNullable<ElementType['render']>>[0]> = {}) {
  const definition: ElementDefinition = { name: 'a', type, position, ...extra.definition };
  const view = { mode: 'input' as const, value, entered: null, error: null, options: colors, ...extra, definition };
  return elementTypes.get(type)?.render?.(view);
}

const evil = `"><script>alert('x')</script>&`;
const named = (more: Partial<ElementDefinition>): ElementDefinition => ({ name: 'a', type: '', position, ...more });

describe('render', () => {
  const inputs = [...elementTypes].filter(([, type]) => type.input).map(([name]) => name);

  it.each(inputs.flatMap((type) => [[type, 'input'] as const, [type, 'text'] as const]))(
    '%s escapes in %s mode',
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

  it.each(inputs)('%s ties label, help and error to its control', (type) => {
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

  it.each(inputs.filter((type) => type !== 'HIDDEN'))('%s has a name for screen readers without a label', (type) => {
    expect(render(type, null)).toContain('aria-label="a"');
  });

  it.each<[string, Json, Parameters<typeof render>[2], string]>([
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

  it.each<[string, Json, string]>([
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

  it.each([
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
  ])('the action %s with label %s', (name, label, expected) => {
    expect(render('ACTION', null, { definition: { name, type: 'ACTION', label, position } })).toBe(expected);
  });

  it('knows the built-in actions', () => {
    expect([...builtInActions.keys()]).toEqual(['_save', '_edit', '_delete']);
  });
});

describe('toOptions', () => {
  it.each<[unknown, unknown]>([
    [
      ['a', 1, true],
      [
        { value: 'a', label: 'a' },
        { value: 1, label: '1' },
        { value: true, label: 'true' },
      ],
    ],
    [
      [{ value: 'a' }, { value: 'b', label: 'B' }],
      [
        { value: 'a', label: 'a' },
        { value: 'b', label: 'B' },
      ],
    ],
    [[], []],
    ['a', null],
    [[null], null],
    [[{ label: 'x' }], null],
    [[{ value: 'x', extra: 1 }], null],
    [[1, '1'], null],
  ])('%j', (given, expected) => {
    expect(toOptions(given)).toEqual(expected);
  });
});

describe('compilePattern', () => {
  const patterns = [
    'a*',
    '(a|b)+c?',
    '[A-Z]{2,3}\\d{1,}',
    '^a$',
    'a|ab',
    '(?:x(?<n>y))*',
    '.',
    '\\p{L}+',
    '[^a-c\\]]',
    'a{2}',
    '',
    '\\/\\-?',
    'a+?b',
    '\\u{1F600}',
    '(a?){3}',
  ];
  const inputs = [
    '',
    'a',
    'aa',
    'aaa',
    'ab',
    'abc',
    'bac',
    'AB1',
    'ABC99',
    'xy',
    'xyxy',
    'é',
    '😀',
    ']',
    '/',
    '/-',
    'b',
    '\n',
  ];

  it.each(patterns)('%s agrees with JavaScript', (pattern) => {
    let source = pattern;
    try {
      new RegExp(source, 'u');
    } catch {
      source = '';
    }
    const whole = new RegExp(`^(?:${source})$`, 'u');
    for (const input of inputs) expect([input, compilePattern(source)(input)]).toEqual([input, whole.test(input)]);
  });

  it('is fast where backtracking is not', () => {
    const begin = performance.now();
    expect(compilePattern('(a+)+$|(a|aa)*c')(`${'a'.repeat(3000)}b`)).toBe(false);
    expect(performance.now() - begin).toBeLessThan(1000);
  });

  it('stops at the end of the work that inputs share', () => {
    const work = patternWork();
    const pattern = `${'(a|a)*'.repeat(160)}b`;
    const results = Array.from({ length: 30 }, () =>
      elementTypes.get('TEXT')?.read?.(['a'.repeat(3999)], named({ pattern }), [], work),
    );
    expect(results).toEqual(Array(30).fill({ error: expect.stringMatching(/takes too long/) }));
    // What one step costs is bounded, so this is how long all thirty have taken.
    expect(work.left).toBeGreaterThan(-100_000);
    expect(compilePattern('a*')('aaa', patternWork())).toBe(true);
  });

  it('takes few steps for what forms ask for', () => {
    for (const pattern of ['[A-Za-z0-9 ]{1,900}', '[^<>]*', '.{0,990}', '(\\w+, )*\\w+']) {
      const work = patternWork();
      compilePattern(pattern)('a'.repeat(3_000), work);
      expect([pattern, 2_000_000 - work.left < 50_000]).toEqual([pattern, true]);
    }
  });

  it.each([
    ['(', /Unterminated|Invalid/i],
    ['(?=a)', /look-ahead/],
    ['(?<!a)', /look-/],
    ['\\bx', /\\b/],
    ['(a)\\1', /\\1/],
    ['(a{1,100}){1,100}', /too large/],
    ['(?:){1000000000}', /too large/],
    ['a'.repeat(1001), /longer/],
  ] as const)('%s is refused', (pattern, reason) => {
    expect(() => compilePattern(pattern)).toThrow(reason);
  });
});

describe('ids of controls', () => {
  const inputs = [...elementTypes].filter(([, type]) => type.input).map(([name]) => name);
  it.each(inputs)('%s begins all of them with the prefix of its block', (type) => {
    const definition: ElementDefinition = { name: 'a', type, position, label: 'A', help: 'why', options: colors };
    const view = { definition, mode: 'input' as const, value: null, entered: null, error: 'wrong', options: colors };
    const html = elementTypes.get(type)?.render?.({ ...view, idPrefix: 'apps-one-two' }) ?? '';
    const ids = [...html.matchAll(/ (?:id|for|aria-describedby)="([^"]*)"/g)].flatMap(([, list]) => list?.split(' '));
    expect(ids).not.toEqual([]);
    expect(ids.filter((id) => !id?.startsWith('apps-one-two-a'))).toEqual([]);
  });
});
