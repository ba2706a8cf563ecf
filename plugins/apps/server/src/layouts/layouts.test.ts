import { describe, expect, test, vi } from 'vitest';
import { AppsError, isAppsError } from '../common/errors';
import { createLayouts, html, type LayoutData } from '.';

const layouts = createLayouts();

const declared: Record<string, Awaited<ReturnType<LayoutData['element']>>> = {
  message: { html: '<b>Hi</b>' },
  info: { value: { title: '<i>', 'sub-title': 'S', deep: { er: 1 }, list: [1, 2] } },
  'a.b': { html: 'AB' },
  n: { value: 3 },
  nothing: { value: null },
  _save: { html: '<button>' },
};

function data(more: Partial<LayoutData> = {}): LayoutData {
  return {
    element: async (name) => (Object.hasOwn(declared, name) ? declared[name] : undefined),
    context: { name: '<&>', list: [1, 2], html: html('<hr>') },
    debug: false,
    onUndefined: () => {},
    ...more,
  };
}

const show = (text: string, more?: Partial<LayoutData>) =>
  layouts.compile({ path: 'blocks/a.html', text }).render(data(more));

describe('single braces', () => {
  test.each([
    ['<p>{message}</p>', '<p><b>Hi</b></p>'],
    ['{message}{_save} {message}', '<b>Hi</b><button> <b>Hi</b>'],
    [
      '{info.title} {info[title]} {info[sub-title]} {info.deep.er} {info[deep][er]} {info[deep][no][x]}',
      '&lt;i&gt; &lt;i&gt; S 1 1 ',
    ],
    [
      '{info}',
      '{&quot;title&quot;:&quot;&lt;i&gt;&quot;,&quot;sub-title&quot;:&quot;S&quot;,&quot;deep&quot;:{&quot;er&quot;:1},&quot;list&quot;:[1,2]}',
    ],
    ['{info.none}{info.constructor}{message.length}{info[__proto__]}', ''],
    ['{a.b}', 'AB'],
    ['{n}{nothing}', '3'],
    ['<a href="{message}">', '<a href="<b>Hi</b>">'],
    ['{ message } {message } {} {message.} {"a":1} {a{b}', '{ message } {message } {}  {"a":1} {a'],
    ['<input pattern="[0-9]{3}">', '<input pattern="[0-9]{3}">'],
    ['<style>a{message}b{color:red}</style>{n}', '<style>a{message}b{color:red}</style>3'],
    ['<script>`${message}`; if(x){message}</script>{n}', '<script>`${message}`; if(x){message}</script>3'],
    ['<SCRIPT src="{n}">{n}</SCRIPT >{n}', '<SCRIPT src="3">{n}</SCRIPT >3'],
    ['<script>"<style>"</script>{n}', '<script>"<style>"</script>3'],
    ['<script>{{ context.list[0] }}{n}</script>{n}', '<script>1{n}</script>3'],
    ['<scripted>{n}</scripted>', '<scripted>3</scripted>'],
    ['<!-- {n} <script> -->{n}', '<!-- {n} <script> -->3'],
    ['{% raw %}{n}{{ n }}{% endraw %}{n}', '{n}{{ n }}3'],
    ['{% comment %}{none}{% endcomment %}{n}', '3'],
    ['{% if context.name %}{n}{% endif %}', '3'],
    ['{% for i in context.list %}{n}{{ i }}{% endfor %}', '3132'],
    ['a  {%- if true -%}  {n}  {%- endif -%}  b', 'a3b'],
    ['body { color: red } @media{a{b:c}}', 'body { color: red } @media{a{b:c}}'],
    ['{none}', ''],
  ])('renders %s', async (text, expected) => {
    expect(await show(text)).toBe(expected);
  });

  test('shows and reports undeclared elements, each once', async () => {
    const onUndefined = vi.fn();
    expect(await show('{none}{none}{{ elements.other }}{7}', { debug: true, onUndefined })).toBe(
      'UNDEFINED ELEMENTUNDEFINED ELEMENTUNDEFINED ELEMENT{7}',
    );
    expect(onUndefined.mock.calls).toEqual([['none'], ['other']]);
  });

  test('lists the elements that are placed', () => {
    const { elements } = layouts.compile({
      path: 'a',
      text: '{b}{a.c}{b}{d[e]}<style>{f}</style>{% comment %}{g}{% endcomment %}{% if x %}{h}{% endif %}',
    });
    expect(elements).toEqual(['b', 'a.c', 'a', 'd', 'h']);
  });

  test('computes an element once, and only if it is shown', async () => {
    const element = vi.fn(async () => ({ html: 'x' }));
    expect(await show('{a}{a}{{ elements.a }}{% if false %}{b}{% endif %}', { element })).toBe('xxx');
    expect(element.mock.calls).toEqual([['a']]);
  });
});

describe('Liquid', () => {
  test.each([
    ['{{ elements.message }}', '<b>Hi</b>'],
    ['{{ elements.info.title }}', '&lt;i&gt;'],
    ['{{ elements.message | upcase }}', '&lt;B&gt;HI&lt;/B&gt;'],
    ['{% if elements.n > 2 %}more{% endif %}', 'more'],
    ['{{ elements.constructor }}{{ elements.toString }}{{ elements }}', ''],
    ['{{ elements.size }}', ''],
    ['{{ context.name }}', '&lt;&amp;&gt;'],
    ['{{ context.name | raw }}', '<&>'],
    ['{{ context.list }}', '[1,2]'],
    ['{{ context.html }}', '<hr>'],
    ['{{ context.constructor }}{{ context.__proto__ }}{{ constructor }}', ''],
    ['{{ missing }}', ''],
    ['{% assign x = "<b>" %}{{ x }}', '&lt;b&gt;'],
  ])('renders %s', async (text, expected) => {
    expect(await show(text)).toBe(expected);
  });

  test('renders variables and blocks of templates', async () => {
    const more = { variables: { main: html('<main>'), title: '<' }, block: async (path: string) => `[${path}]` };
    expect(await show('{{ main }}{{ title }}{% block "rating/blocks/rate" %}', more)).toBe(
      '<main>&lt;[rating/blocks/rate]',
    );
  });
});

describe('failures', () => {
  const failure = async (work: () => unknown) => {
    try {
      await work();
    } catch (error) {
      if (isAppsError(error)) return error;
      throw error;
    }
    throw new Error('nothing was wrong');
  };

  test.each([
    ['a\n  {% nope %}', 2, 3, /^There is no tag "nope"/],
    ['{n}\n{% if x %}', 2, 1, /not closed: write \{% endif %\} at its end$/],
    ['{n}\n{{ "x" | upcas }}', 2, 1, /^There is no filter "upcas", did you mean "upcase"\?$/],
    ['{{ "x" | zzzzzzzz }}', 1, 1, /^There is no filter "zzzzzzzz"\.$/],
    ['{% iff a %}', 1, 1, /^There is no tag "iff", did you mean "if"\?$/],
    ['{% include "card" %}', 1, 1, /write \{% render "name" %\}/],
    ['{% for a in b %}{% endif %}', 1, 17, /^The tag "endif" has no beginning before it$/],
    ['{% if a = 1 %}x{% endif %}', 1, 10, /compare with == instead of =/],
    ['<p>\n{{ x', 2, 1, /not closed: write \}\} at its end$/],
    ['<p>{% if x', 1, 4, /not closed: write %\} at its end$/],
    ['{{ x | nope }}', 1, 1, /nope/],
    ['{% include "x" %}', 1, 1, /^There is no tag "include": write \{% render/],
    ['{% render "/etc/passwd" %}', 1, 1, /There is no partial "\/etc\/passwd"/],
    ['{% layout "x" %}', 1, 1, /^There is no tag "layout": the theme has one/],
    ['{% block %}', 1, 1, /needs a path/],
    ['a\n{% block "x" %}', undefined, undefined, /only be used in templates/],
    ['{% for i in (1..100000000) %}{% endfor %}', 1, 1, /memory alloc limit/],
    [
      '{% for i in (1..3000) %}{% for j in (1..3000) %}.{% endfor %}{% endfor %}',
      1,
      undefined,
      /more than 200000 steps/,
    ],
    [
      '{% assign a = "xxxxxxxxxx" %}{% for i in (1..60) %}{% assign a = a | append: a %}{% endfor %}',
      1,
      undefined,
      /memory/,
    ],
    [
      '{% capture a %}xxxxxxxxxx{% endcapture %}{% for i in (1..60) %}{% capture a %}{{ a }}{{ a }}{% endcapture %}{% endfor %}',
      1,
      undefined,
      /memory/,
    ],
    [
      '{% capture a %}xxxxxxxxxx{% endcapture %}{% for i in (1..60) %}{% capture a %}{{ a | raw }}{{ a | raw }}{% endcapture %}{% endfor %}',
      1,
      undefined,
      /memory/,
    ],
  ])('refuses %s', async (text, line, column, message) => {
    const error = await failure(() => show(text));
    expect(error.name).toBe('DefinitionError');
    expect(error.message).toMatch(message);
    expect(error.message).not.toMatch(/, line:/);
    if (line) expect(error.position).toMatchObject({ file: 'blocks/a.html', line, ...(column && { column }) });
  });

  test.each([
    ['elements', '{n}'.repeat(20_000), 30_001, /at most 10000 tags, outputs and elements/],
    ['outputs', `${'.'.repeat(9)}${'{{n}}'.repeat(20_000)}`, 50_010, /at most 10000 tags/],
    ['Liquid in all', `{{ ${'n | '.repeat(2_000)}n }}`.repeat(20), 12 * 8_007 + 1, /at most 100000 characters/],
    ['operands', `.{% if n${' or n'.repeat(20_000)} %}x{% endif %}`, 2, /longer than 10000/],
    ['filters', `{{ n${' | upcase'.repeat(20_000)} }}`, 1, /longer than 10000/],
    ['dots', `{${'n.'.repeat(100_000)}n}`, 1, /longer than 200/],
    ['depth', '{% if n %}'.repeat(4_900) + '{% endif %}'.repeat(4_000), undefined, /call stack|not closed/],
    ['a list for a filter', '{% assign l = (1..200000) | sort %}', undefined, /"sort" takes lists of at most 100000/],
    [
      'work for each item of a list',
      `{% assign l = (1..90000) | where_exp: "i", "i > 5${' or i > 9'.repeat(1_000)}" %}`,
      undefined,
      /longer than 500 ms/,
    ],
    [
      'items of lists',
      `{% assign l = (1..90000) %}${'{% assign m = l | group_by: "x" %}'.repeat(3)}`,
      1,
      /200000 steps|longer than 500 ms/,
    ],
    [
      'an expression that was put together',
      '{% assign e = "i or i or " %}{% for i in (1..12) %}{% assign e = e | append: e %}{% endfor %}{{ (1..2) | has_exp: "i", e }}',
      undefined,
      /expressions of at most 10000/,
    ],
  ])('bounds %s', async (_, text, column, message) => {
    const error = await failure(() => show(text));
    expect(error).toMatchObject({ name: 'DefinitionError', position: { file: 'blocks/a.html' } });
    expect(error.message).toMatch(message);
    if (column && column > 1) expect(error.position).toMatchObject({ line: 1, column });
  });

  test('renders a large layout', async () => {
    expect(await show('{n}'.repeat(9_000))).toBe('3'.repeat(9_000));
    expect(await show('x'.repeat(250_000))).toHaveLength(250_000);
  });

  test('bounds files, pages and time', async () => {
    const tight = createLayouts({ sourceLength: 100, memory: 50, renderTime: 20 });
    const compile = (text: string) => tight.compile({ path: 'a', text });
    expect((await failure(() => compile('x'.repeat(101)))).message).toMatch(/longer than 100/);
    expect(
      (await failure(() => compile('{n}{n}').render(data({ element: async () => ({ html: 'x'.repeat(30) }) }))))
        .message,
    ).toMatch(/page is longer/);
    const slow = async () => {
      await new Promise((resolve) => setTimeout(resolve, 40));
      return { html: '.' };
    };
    expect(await compile('{a}{b}{n}').render(data({ element: slow }))).toBe('...');
  });

  test('passes errors of elements on unchanged', async () => {
    const mine = new AppsError('LogicTimeoutError', 'slow');
    expect(await failure(() => show('{% if true %}{n}{% endif %}', { element: () => Promise.reject(mine) }))).toBe(
      mine,
    );
  });
});
