import { describe, expect, test, vi } from 'vitest';
import { isAppsError } from '../common/errors';
import { createLayouts, type LayoutData } from '.';

const layouts = createLayouts();

const files: Record<string, string> = {
  card: '<b>{{ title }}</b>{{ hidden }}{message}',
  outer: '[{% render "card", title: title %}]',
  loop: '{% render "loop" %}',
  ping: '{% render "pong" %}',
  pong: '{% render "ping" %}',
  broken: 'a\n{% if %}',
  failing: 'a\n\n{{ 1 | divided_by: context.list | date: context.long }}{{ "x" | no_filter }}',
  late: 'a\n\n{{ context.list | where_exp: "x", "x.(" }}',
};

const source = (text: string) => {
  const partials = new Map(
    Object.entries(files).map(([name, content]) => [name, { path: `partials/${name}.html`, text: content }]),
  );
  return { path: 'blocks/a.html', text, partials };
};

const data = (more: Partial<LayoutData> = {}): LayoutData => ({
  element: async (name) => (name === 'message' ? { html: '<i>Hi</i>' } : undefined),
  context: { list: [1, 2] },
  debug: false,
  onUndefined: () => {},
  ...more,
});

const show = async (text: string, more?: Partial<LayoutData>) => layouts.compile(source(text)).render(data(more));

describe('partials', () => {
  test.each([
    ['{% render "card", title: "<A>" %}', '<b>&lt;A&gt;</b><i>Hi</i>'],
    ["{% render 'card' %}", '<b></b><i>Hi</i>'],
    ['{% assign hidden = 1 %}{% render "card", title: hidden %}', '<b>1</b><i>Hi</i>'],
    ['{% assign title = 2 %}{% render "outer", title: "x" %}', '[<b>x</b><i>Hi</i>]'],
    ['{% for n in context.list %}{% render "card", title: n %}{% endfor %}', '<b>1</b><i>Hi</i><b>2</b><i>Hi</i>'],
    ['{% comment %}{% render "none" %}{% endcomment %}ok', 'ok'],
  ])('%s is shown as %s', async (text, expected) => {
    expect(await show(text)).toBe(expected);
  });

  test.each([
    ['{% render "none" %}', 'blocks/a.html', 1, 'There is no partial "none"'],
    ['\n {% render "crad" %}', 'blocks/a.html', 2, 'did you mean "card"'],
    ['{% render name %}', 'blocks/a.html', 1, 'in quotes'],
    ['{% render "loop" %}', 'partials/loop.html', 1, 'renders itself'],
    ['{% render "ping" %}', 'partials/pong.html', 1, 'renders itself (ping → pong → ping)'],
    ['{% render "card.html" %}', 'blocks/a.html', 1, 'did you mean "card"?'],
    ['{% render "nothing" %}', 'blocks/a.html', 1, 'it would be partials/nothing.html'],
    ['{% render "broken" %}', 'partials/broken.html', 2, ''],
    ['{% render "failing" %}', 'partials/failing.html', 3, ''],
    // Liquid counts the lines of an expression from its own start.
    ['{% render "late" %}', 'partials/late.html', 1, ''],
  ])('%s is an error in %s, line %i', async (text, file, line, message) => {
    const error = await show(text).then(
      () => null,
      (thrown) => thrown,
    );
    expect(isAppsError(error, 'DefinitionError'), String(error)).toBe(true);
    expect(error.message.toLowerCase()).toContain(message.toLowerCase());
    expect(error.position).toMatchObject({ file, line });
  });

  test('a layout shows the elements of its partials, and names the context that they name', () => {
    const compiled = layouts.compile(source('{% render "outer" %}'));
    expect([...compiled.elements]).toContain('message');
    expect([compiled.shows('message'), compiled.shows('other'), compiled.namesContext]).toEqual([true, false, false]);
    expect(layouts.compile(source('{% render "late" %}')).namesContext).toBe(true);
  });

  test('an unknown variable of a partial is reported with its file', async () => {
    const onUnknown = vi.fn(() => '?');
    expect(await show('{% render "card" %}', { onUnknown })).toBe('<b>?</b>?<i>Hi</i>');
    expect(onUnknown.mock.calls).toContainEqual(['hidden', { path: 'partials/card.html', line: 1 }]);
  });

  test('partials that render others many times stop at the limits of one layout', () => {
    const partials = new Map(
      Array.from({ length: 9 }, (_, at) => [
        `p${at}`,
        {
          path: `partials/p${at}.html`,
          text: `${'x'.repeat(1000)}${`{% render "p${at + 1}" %}`.repeat(at === 8 ? 0 : 9)}`,
        },
      ]),
    );
    const text = '{% render "p0" %}';
    expect(() => layouts.compile({ path: 'blocks/a.html', text, partials })).toThrow(/longer than|at most/);
  });
});

describe('what a layout makes of the time stays the same', () => {
  const minute = 60_000;
  test.each<[text: string, step: number | 'unknown' | 'always']>([
    ["{{ 'now' | date: '%Y' }}", 15 * minute],
    ["{{ 'today' | date: '%-d.%m. %H' }}", 15 * minute],
    ["{{ 'now' | date: '%H:%M' }}", minute],
    ["{{ 'now' | date: '%s' }}", 'unknown'],
    ["{{ 'now' | date: '%H', 7 }}", 'unknown'],
    ["{{ 'now' | date: '%H', 30 }}", 15 * minute],
    ["{{ 'now' | date: '%Y %S' }}", 'unknown'],
    ["{{ 'now' | date }}", 'unknown'],
    ["{{ 'now' | date_to_xmlschema }}", 'unknown'],
    ["{{ 'now' | format_date }}", 15 * minute],
    ["{{ 'now' | format_date: time: 'short' }}", minute],
    ["{{ 'now' | format_date: time: 'long' }}", 'unknown'],
    ["{{ '2026-03-01' | date: '%s' }}", 'always'],
  ])('%s: %s', async (text, step) => {
    const seen: (number | undefined)[] = [];
    const begun = Date.now();
    await show(text, { onClock: (until) => void seen.push(until) });
    const untilNext = typeof step === 'number' ? (Math.floor(begun / step) + 1) * step : undefined;
    expect(seen).toEqual(step === 'always' ? [] : [untilNext]);
  });

  test('unless it draws an entry', async () => {
    let draws = 0;
    await show("{{ 'a,b' | split: ',' | sample }}", {
      onRandom() {
        draws += 1;
      },
    });
    expect(draws).toBe(1);
  });
});

describe('filters of the locale', () => {
  const locale = {
    tag: 'de',
    timeZone: 'Europe/Berlin',
    translate: (key: string, values: object) => (key === 'hi' ? `Hallo ${JSON.stringify(values)}` : null),
  };
  test.each([
    ['{{ "hi" | t: name: "A" }}', 'Hallo {&quot;name&quot;:&quot;A&quot;}'],
    ['{{ "none" | t }}', 'none'],
    ['{{ 1234.5 | format_number }}', '1.234,5'],
    ['{{ 1234.5 | format_number: digits: 2 }}', '1.234,50'],
    ['{{ 2026 | format_number: grouping: false }}', '2026'],
    ['{{ 5 | format_number: currency: "EUR" }}', '5,00\u00a0€'],
    ['{{ "x" | format_number }}{{ nil | format_number }}', 'x'],
    ['{{ "2026-03-01" | format_date }}', '1. März 2026'],
    ['{{ "2026-03-01T23:30:00Z" | format_date }}', '2. März 2026'],
    ['{{ "2026-03-01T23:30:00Z" | format_date: time: "short" }}', '00:30'],
    ['{{ "2026-03-01T23:30:00Z" | format_date: date: "short", time: "short" }}', '02.03.26, 00:30'],
    ['{{ "2026-03-01T23:30:00Z" | date: "%B %H" }}', 'März 00'],
    ['{{ "nonsense" | format_date }}', 'nonsense'],
    ['{{ "/a?x=1#f" | with_query: page: 2 }}', '/a?x=1&amp;page=2#f'],
    ['{{ "/a?page=1" | with_query: page: nil }}', '/a'],
    ['{% assign n = "p" %}{{ "/a" | with_query: n, 3 }}', '/a?p=3'],
  ])('%s is %s', async (text, expected) => {
    expect(await show(text, { locale })).toBe(expected);
  });

  test.each([
    ['{{ "hi" | t: 3 }}', 'named arguments'],
    ['{{ "2026-03-01" | format_date: date: "huge" }}', 'full, long, medium, short'],
    ['{{ 1 | format_number: digits: 99 }}', '0 to 20'],
    ['{{ 1 | format_number: currency: "euro" }}', 'three letters'],
  ])('%s is an error', async (text, message) => {
    await expect(show(text, { locale })).rejects.toThrow(message);
  });

  test('asset_url gives the address of a public file, escaped', async () => {
    const assetUrl = async (path: string) => `/at/${path}?a=1&v=2`;
    expect(await show('{{ "x.css" | asset_url }}', { assetUrl })).toBe('/at/x.css?a=1&amp;v=2');
    expect(await show('{{ "x.css" | asset_url }}{{ nil | asset_url }}')).toBe('x.css');
  });

  test('without a locale, dates and numbers are English', async () => {
    expect(await show('{{ 1234.5 | format_number }} {{ "2026-03-01" | format_date }}')).toBe('1,234.5 March 1, 2026');
  });
});

const inZone = (timeZone: string, tag = 'en') => ({ locale: { tag, timeZone, translate: () => null } });

const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'];

describe.each(zones)('in %s', (zone) => {
  test.each([
    ['{{ "2026-03-01T09:30" | format_date: time: "short" }}', '9:30 AM'],
    ['{{ "2026-07-01T09:30" | format_date: date: "short", time: "short" }}', '7/1/26, 9:30 AM'],
    ['{{ "2026-03-29T02:30" | format_date: time: "short" }}', '2:30 AM'],
    ['{{ "2026-03-08T02:30" | format_date: time: "short" }}', '2:30 AM'],
    ['{{ "2026-03-01 23:59:59.5" | format_date: date: "medium", time: "medium" }}', 'Mar 1, 2026, 11:59:59 PM'],
    ['{{ "2026-03-01" | format_date }}', 'March 1, 2026'],
    ['{{ "2026-03-01T09:30" | date: "%Y-%m-%d %H:%M" }}', '2026-03-01 09:30'],
    ['{{ "2026-10-25T02:30" | date: "%d. %H:%M:%S" }}', '25. 02:30:00'],
    ['{{ "2026-03-01T00:00" | date: "%Y-%m-%d" }}', '2026-03-01'],
    ['{{ "2026-03-01" | date: "%Y-%m-%d" }} {{ "2026-12-31" | date: "%j" }}', '2026-03-01 365'],
    ['{{ "2026-03-01" | date_to_string }}', '01 Mar 2026'],
    ['{{ "2026-03-01T23:30" | date_to_long_string: "ordinal" }}', '1st March 2026'],
    ['{{ "March 1, 2026" | date: "%F" | default: "x" }}{{ "March 1, 2026" | date: "%b %d, %y" }}', '%FMar 01, 26'],
    ['{{ "2026-03-01T09:30" | date: "%H:%M", "Asia/Tokyo" }} {{ "2026-03-01" | date: "%d", 600 }}', '09:30 01'],
  ])('%s is %s', async (text, expected) => {
    expect(await show(text, inZone(zone))).toBe(expected);
  });
});

describe('moments are shown in the zone of the site', () => {
  test.each([
    ['Europe/Berlin', '{{ "2026-03-01T23:30:00Z" | date: "%d %H:%M %z" }}', '02 00:30 +0100'],
    ['Europe/Berlin', '{{ "2026-03-01T09:30" | date_to_xmlschema }}', '2026-03-01T09:30:00+01:00'],
    ['America/New_York', '{{ "2026-07-01" | date_to_rfc822 }}', 'Wed, 01 Jul 2026 00:00:00 -0400'],
    ['America/New_York', '{{ "2026-03-01T02:00+02:00" | format_date }}', 'February 28, 2026'],
    ['America/New_York', '{{ 1772366400 | date: "%F %H" }}{{ "1772366400" | date: "%d %H" }}', '%F 0701 07'],
    ['America/New_York', '{{ "Sun, 01 Mar 2026 02:00:00 GMT" | format_date: time: "short" }}', '9:00 PM'],
    ['America/New_York', '{{ "2026-03-01T02:00:00Z" | date: "%H:%M", "Asia/Tokyo" }}', '11:00'],
  ])('in %s %s is %s', async (zone, text, expected) => {
    expect(await show(text, inZone(zone))).toBe(expected);
  });

  test('"now" and "today" are the present moment', async () => {
    const year = String(new Date().getUTCFullYear());
    const text = '{{ "now" | date: "%Y" }} {{ "today" | date: "%Y" }} {{ "now" | format_date }}';
    expect(await show(text, inZone('UTC'))).toMatch(new RegExp(`^${year} ${year} .*${year}$`));
  });
});

describe('what is no date or number stays unchanged', () => {
  const texts = [
    '01.03.2026',
    'Room 5',
    '1.5',
    '-1',
    'March 5',
    '2026-02-30',
    '2026-13-01',
    '03/01/2026',
    '5',
    'May 2026 x',
  ];
  test.each(texts)('%s as a date', async (text) => {
    for (const filter of [
      'format_date',
      'format_date: time: "short"',
      ...(text === '5' ? [] : ['date: "%Y"', 'date_to_string']),
    ])
      expect(await show(`{{ context.x | ${filter} }}`, { context: { x: text } })).toBe(text);
  });

  test.each([
    ...['Room 5', '01067', '0x1F', ' ', '', '1,5', '1e999', 'Infinity', '1 2', '--1', '007'].map((text) => [
      text,
      text,
    ]),
    ['-1.5', '-1.5'],
    [' 1234 ', '1,234'],
    ['1234567890123456789', '1,234,567,890,123,456,789'],
    ['.5', '0.5'],
  ])('%j as a number is %j', async (text, expected) => {
    expect(await show('{{ context.x | format_number }}', { context: { x: text } })).toBe(expected);
  });
});
