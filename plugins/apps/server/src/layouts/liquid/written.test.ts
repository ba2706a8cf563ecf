import { describe, expect, test } from 'vitest';
import { createLayouts, html, type LayoutData } from '..';

const layouts = createLayouts();

const context = {
  name: "O'Brien",
  lines: 'a & b\r\n<i>c</i>\nd',
  evil: '<script>alert("1")</script>\n<br onload=x>',
  typed: '<br />\n&lt;',
  html: html('<b>A & O&#39;B</b>'),
  item: { 'a&amp;b': 'found' },
  list: ['<x>', 'y\nz'],
  url: 'a b&c"d',
};

const known = {
  message: { html: '<b>Tom &amp; Jo</b>' },
  day: { html: 'March 1, 2026', text: '2026-03-01' },
  num: { html: '1,234.5', text: '1234.5' },
};

const data: LayoutData = {
  element: async (name) => known[name as keyof typeof known],
  context,
  debug: false,
  onUndefined: () => {},
};

const show = (text: string) =>
  layouts.compile({ path: 'blocks/a.html', text: `{% assign c = context %}${text}` }).render(data);

describe('standard filters make safe HTML, once', () => {
  test.each([
    ['{{ "a\nb" | newline_to_br }}', 'a<br />\nb'],
    ['{{ c.lines | newline_to_br }}', 'a &amp; b<br />\n&lt;i&gt;c&lt;/i&gt;<br />\nd'],
    ['{{ c.name | escape }}', 'O&#39;Brien'],
    ['{{ c.name | xml_escape }} {{ c.name | escape_once }}', 'O&#39;Brien O&#39;Brien'],
    ['{{ "1 &lt; 2 & 3 &copy; &#39; &#x27; &x" | escape_once }}', '1 &lt; 2 &amp; 3 &copy; &#39; &#x27; &amp;x'],
    ['{{ c.lines | escape | newline_to_br }}', 'a &amp; b<br />\n&lt;i&gt;c&lt;/i&gt;<br />\nd'],
    ['{{ c.lines | newline_to_br | strip_newlines }}', 'a &amp; b<br />&lt;i&gt;c&lt;/i&gt;<br />d'],
    ['{{ "a\nb" | newline_to_br | upcase }}', 'A<br />\nB'],
    ['{{ "a\nb" | newline_to_br | append: c.name | prepend: "<" }}', '&lt;a<br />\nbO&#39;Brien'],
    ['{{ "a\nb" | newline_to_br | replace: "<br />", "<br>" }}', 'a<br />\nb'],
    ['{{ "a\nb" | newline_to_br | replace: "<br />", "<hr>" }}', 'a&lt;hr&gt;\nb'],
    ['{{ "a\nb" | newline_to_br | strip_html }}', 'a\nb'],
    ['{{ "a\nb" | newline_to_br | escape }}', 'a&lt;br /&gt;\nb'],
    ['{{ c.name | escape | upcase | append: " & <b>" }}', 'O&#39;BRIEN &amp; &lt;b&gt;'],
    [
      '{{ c.name | escape | replace: "Brien", c.evil }}',
      'O&#39;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;\n&lt;br onload=x&gt;',
    ],
    ['{{ c.name | escape | truncate: 40 | strip }}', 'O&#39;Brien'],
    ['{{ c.name | escape | url_encode }}', 'O%26%2339%3BBrien'],
    ['{{ c.url | url_encode | escape }}', 'a+b%26c%22d'],
    ['{{ "<" | escape | escape }}', '&amp;lt;'],
    ['{{ "Hi " | append: c.html }}', 'Hi &lt;b&gt;A &amp; O&#39;B&lt;/b&gt;'],
    ['{{ c.html | strip_html }} {{ elements.message | strip_html }}', 'A &amp; O&#39;B Tom &amp; Jo'],
    ['{{ c.html }} {{ elements.message | default: "x" }}', '<b>A & O&#39;B</b> <b>Tom &amp; Jo</b>'],
  ])('%s', async (text, expected) => {
    expect(await show(text)).toBe(expected);
  });
});

describe('values keep it on their way', () => {
  test.each([
    ['{% assign t = c.lines | newline_to_br %}{{ t }}', 'a &amp; b<br />\n&lt;i&gt;c&lt;/i&gt;<br />\nd'],
    ['{% capture t %}{{ c.name }}!{% endcapture %}{{ t }} {{ t | upcase }}', 'O&#39;Brien! O&#39;BRIEN!'],
    ['{% capture t %} {{ "a\nb" | newline_to_br }} {% endcapture %}{{ t | strip }}', 'a<br />\nb'],
    ['{% capture t %}<b title="{{ c.name }}">{% endcapture %}{{ t }}', '&lt;b title=&quot;O&#39;Brien&quot;&gt;'],
    ['{% capture t %}<b>{{ c.name }}</b>{% endcapture %}{{ t | raw }}', '<b>O&#39;Brien</b>'],
    ['{% echo c.lines | newline_to_br | strip_newlines %}', 'a &amp; b<br />&lt;i&gt;c&lt;/i&gt;<br />d'],
    [
      '{% echo c.name %}{% echo c.name | raw %}{% echo elements.message %}{% echo %}',
      "O&#39;BrienO'Brien<b>Tom &amp; Jo</b>",
    ],
    [
      '{% assign all = c.lines | newline_to_br | split: "<br />" %}{% for one in all %}[{{ one | strip }}]{% endfor %}{{ all.size }}',
      '[a &amp; b][&lt;i&gt;c&lt;/i&gt;][d]3',
    ],
    ['{% assign all = "O\'B, <x>" | escape | split: ", " %}{{ all | join: "; " }}', 'O&#39;B; &lt;x&gt;'],
    ['{% assign t = c.name | escape %}{{ t | json }}', '&quot;O&#39;Brien&quot;'],
    ['{% capture t %}{{ "a&b" }}{% endcapture %}{{ c.item[t] }}', 'found'],
    [
      '{% capture t %}{{ "a&b" }}{% endcapture %}{% if t == "a&amp;b" %}1{% endif %}{% if t contains "amp" %}2{% endif %}{% case t %}{% when "a&amp;b" %}3{% endcase %}{% if t != blank %}4{% endif %}{{ t.size }}{{ t | size }}',
      '123477',
    ],
    ['{{ c.name | escape | raw }}', 'O&#39;Brien'],
    ['{{ c.lines | escape | newline_to_br | raw }}', 'a &amp; b<br />\n&lt;i&gt;c&lt;/i&gt;<br />\nd'],
    ['{{ c.name | escape | replace: "O", "<b>O</b>" | raw }}', '<b>O</b>&#39;Brien'],
  ])('%s', async (text, expected) => {
    expect(await show(text)).toBe(expected);
  });

  test('what a visitor has typed as a tag is text', async () => {
    expect(await show('{{ c.typed | newline_to_br }}')).toBe('&lt;br /&gt;<br />\n&amp;lt;');
    expect(await show('{{ c.typed | escape | newline_to_br }}')).toBe('&lt;br /&gt;<br />\n&amp;lt;');
  });
});

test('an element that is written in the language of the page is read as it is stored', async () => {
  expect(await show('{day} {{ elements.num }} {{ elements.day | date: "%d.%m." }} {{ elements.num | plus: 1 }}')).toBe(
    'March 1, 2026 1,234.5 01.03. 1235.5',
  );
  expect(
    await show('{% if elements.day == "2026-03-01" %}{{ elements.num | format_number: digits: 2 }}{% endif %}'),
  ).toBe('1,234.50');
});

describe('no chain of filters lets a tag or a quote out', () => {
  const filters = [
    ...['escape', 'newline_to_br', 'upcase', 'strip_html', 'append: c.evil', 'url_decode', 'replace: "&lt;", "<"'],
    ...['remove: ";"', 'truncate: 9, c.evil', 'split: "a" | join: c.evil', 'default: c.evil', 'date: c.evil'],
  ];
  const chains = filters.flatMap((one) => filters.map((other) => `${one} | ${other}`));
  const before = '{% capture t %}<i x="{{ c.evil }}">{% endcapture %}{% assign u = c.evil | escape | newline_to_br %}';

  test.each(['c.evil', 'c.html', 'elements.message', 't', 'u'])('of %s', async (source) => {
    const own = await show(`{{ ${source.startsWith('c.e') || source.length === 1 ? '""' : source} }}`);
    const outputs = chains.map((chain) => `{{ ${source} | ${chain} }}{% echo ${source} | ${chain} %}`);
    const shown = (await show(`${before}${outputs.join('|')}`)).split('|');
    expect(shown).toHaveLength(chains.length);
    for (const [index, out] of shown.entries()) {
      // A filter that returns an element unchanged returns its HTML.
      const rest = own === '' ? out : out.replaceAll(own, '');
      expect(rest.replaceAll('<br />', ''), chains[index]).not.toMatch(/[<>"']/);
    }
  });
});
