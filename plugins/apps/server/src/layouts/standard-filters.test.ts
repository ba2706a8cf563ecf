import { describe, expect, test } from 'vitest';
import { createLayouts, type LayoutData } from '.';

const layouts = createLayouts();

const products = [
  { name: 'Vacuum', type: 'electronics', price: 80, available: true },
  { name: 'Spatula', type: 'kitchen', price: 5.5, available: false },
  { name: 'garlic press', type: 'kitchen', price: null, available: true },
];
const context = {
  products,
  tags: ['b', 'a', null, 'B', 'a'],
  numbers: [3, 1, 2],
  nested: [[1], [2, 3]],
  nothing: null,
};

const data: LayoutData = { element: async () => undefined, context, debug: false, onUndefined: () => {} };

const show = (text: string) =>
  layouts.compile({ path: 'blocks/a.html', text: `{% assign c = context %}${text}` }).render(data);

/** The examples of Shopify's and Jekyll's documentation, and what people meet besides. */
const cases: Record<string, [layout: string, html: string][]> = {
  abs: [['{{ -17 | abs }} {{ "-19.86" | abs }}', '17 19.86']],
  append: [['{{ "/my/url" | append: ".html" }}', '/my/url.html']],
  at_least: [['{{ 4 | at_least: 5 }} {{ 4 | at_least: 3 }}', '5 4']],
  at_most: [['{{ 4 | at_most: 5 }} {{ 4 | at_most: 3 }}', '4 3']],
  capitalize: [['{{ "my GREAT title" | capitalize }}', 'My great title']],
  ceil: [['{{ 1.2 | ceil }} {{ 2.0 | ceil }} {{ "3.5" | ceil }}', '2 2 4']],
  compact: [['{{ c.tags | compact | join: "," }}', 'b,a,B,a']],
  concat: [['{{ c.numbers | concat: c.tags | size }}', '8']],
  default: [
    [
      '{{ nil | default: 2.99 }} {{ "" | default: 2.99 }} {{ false | default: 2.99 }} {{ 4.99 | default: 2.99 }}',
      '2.99 2.99 2.99 4.99',
    ],
    ['{{ false | default: true, allow_false: true }} {{ 0 | default: 1 }}', 'false 0'],
  ],
  divided_by: [
    ['{{ 16 | divided_by: 4 }} {{ 20 | divided_by: 7.0 }} {{ 20 | divided_by: 7 | floor }}', '4 2.857142857142857 2'],
  ],
  downcase: [['{{ "Parker MOORE" | downcase }}', 'parker moore']],
  first: [['{{ "Ground control to Major Tom." | split: " " | first }}', 'Ground']],
  floor: [['{{ 1.2 | floor }} {{ "3.5" | floor }} {{ -1.5 | floor }}', '1 3 -2']],
  join: [
    ['{{ "John, Paul, George" | split: ", " | join: " and " }}', 'John and Paul and George'],
    ['{{ c.numbers | join }}', '3 1 2'],
  ],
  last: [['{{ "Ground control to Major Tom." | split: " " | last }}', 'Tom.']],
  lstrip: [['[{{ "  So much  " | lstrip }}]', '[So much  ]']],
  map: [['{{ c.products | map: "type" | uniq | join: ", " }}', 'electronics, kitchen']],
  minus: [
    ['{{ 4 | minus: 2 }} {{ 183.357 | minus: 12 }} {{ 0.3 | minus: 0.1 }} {{ "7" | minus: "2" }}', '2 171.357 0.2 5'],
  ],
  modulo: [['{{ 3 | modulo: 2 }} {{ 24 | modulo: 7 }} {{ 183.357 | modulo: 12 }}', '1 3 3.357']],
  plus: [['{{ 4 | plus: 2 }} {{ 0.1 | plus: 0.2 }} {{ "1" | plus: "1" }} {{ nil | plus: 1 }}', '6 0.3 2 1']],
  prepend: [['{{ "apples" | prepend: "Some fruit: " }}', 'Some fruit: apples']],
  remove: [['{{ "I strained to see the train" | remove: "rain" }}', 'I sted to see the t']],
  remove_first: [['{{ "I strained to see the train" | remove_first: "rain" }}', 'I sted to see the train']],
  remove_last: [['{{ "I strained to see the train" | remove_last: "rain" }}', 'I strained to see the t']],
  replace: [
    ['{{ "Take my protein pills" | replace: "my", "your" }}', 'Take your protein pills'],
    ['{{ "1.1.1" | replace: ".", "$&" }}', '1$&amp;1$&amp;1'],
  ],
  replace_first: [['{{ "a a" | replace_first: "a", "b" }}', 'b a']],
  replace_last: [['{{ "a a" | replace_last: "a", "b" }}', 'a b']],
  reverse: [
    ['{{ "apples, oranges" | split: ", " | reverse | join: ", " }}', 'oranges, apples'],
    ['{{ "abc" | split: "" | reverse | join: "" }}', 'cba'],
  ],
  round: [
    ['{{ 1.2 | round }} {{ 2.7 | round }} {{ 183.357 | round: 2 }}', '1 3 183.36'],
    ['{{ 1.005 | round: 2 }} {{ -1.5 | round }} {{ 2.5 | round }} {{ 1234 | round: -2 }}', '1.01 -2 3 1200'],
  ],
  rstrip: [['[{{ "  So much  " | rstrip }}]', '[  So much]']],
  size: [['{{ "Ground control to Major Tom." | size }} {{ c.numbers | size }} {{ 5 | size }}', '28 3 0']],
  slice: [
    [
      '{{ "Liquid" | slice: 0 }} {{ "Liquid" | slice: 2 }} {{ "Liquid" | slice: 2, 5 }} {{ "Liquid" | slice: -3, 2 }}',
      'L q quid ui',
    ],
    ['{{ c.numbers | slice: 1, 2 | join: "," }} {{ "a🍕b" | slice: 1 }} {{ "ab" | slice: -5, 2 }}', '1,2 🍕 '],
  ],
  sort: [
    [
      '{{ "zebra, octopus, giraffe, Sally Snake" | split: ", " | sort | join: ", " }}',
      'Sally Snake, giraffe, octopus, zebra',
    ],
    [
      '{{ c.numbers | sort | join }} {{ c.products | sort: "price" | map: "name" | join: "," }}',
      '1 2 3 Spatula,Vacuum,garlic press',
    ],
  ],
  sort_natural: [
    [
      '{{ "zebra, octopus, giraffe, Sally Snake" | split: ", " | sort_natural | join: ", " }}',
      'giraffe, octopus, Sally Snake, zebra',
    ],
  ],
  split: [['{{ "a🍕b" | split: "" | join: "-" }} {{ "a,b,,c," | split: "," | join: "-" }}', 'a-🍕-b a-b--c']],
  strip: [['[{{ "  So much  " | strip }}]', '[So much]']],
  strip_html: [
    ['{{ "Have <em>you</em> read <strong>Ulysses</strong>?" | strip_html }}', 'Have you read Ulysses?'],
    ['{{ "a<script>b</script><style>c</style><!-- d -->e" | strip_html }}', 'ae'],
  ],
  strip_newlines: [['{{ "Hello\nthere\r\n!" | strip_newlines }}', 'Hellothere!']],
  sum: [['{{ c.numbers | sum }} {{ c.products | sum: "price" }}', '6 85.5']],
  times: [['{{ 3 | times: 2 }} {{ 183.357 | times: 12 }} {{ 1.1 | times: 3 }}', '6 2200.284 3.3']],
  truncate: [
    ['{{ "Ground control to Major Tom." | truncate: 20 }}', 'Ground control to...'],
    ['{{ "Ground control to Major Tom." | truncate: 25, ", and so on" }}', 'Ground control, and so on'],
    [
      '{{ "Ground control to Major Tom." | truncate: 20, "" }} {{ "ab🍕cd" | truncate: 3, "" }}',
      'Ground control to Ma ab🍕',
    ],
    ['{{ "short" | truncate }} {{ "ab🍕cd" | truncate: 5 }}', 'short ab🍕cd'],
  ],
  truncatewords: [
    ['{{ "Ground control to Major Tom." | truncatewords: 3 }}', 'Ground control to...'],
    ['{{ "Ground control to Major Tom." | truncatewords: 3, "--" }}', 'Ground control to--'],
    ['{{ "one two three" | truncatewords: 3 }}, {{ "one two" | truncatewords: 0 }}', 'one two three, one...'],
  ],
  uniq: [['{{ "ants, bugs, bees, bugs, ants" | split: ", " | uniq | join: ", " }}', 'ants, bugs, bees']],
  upcase: [['{{ "Parker Moore" | upcase }}', 'PARKER MOORE']],
  url_decode: [['{{ "%27Stop%21%27+said+Fred" | url_decode }}', '&#39;Stop!&#39; said Fred']],
  url_encode: [
    ['{{ "john@liquid.com" | url_encode }} {{ "Tetsuro Takara" | url_encode }}', 'john%40liquid.com Tetsuro+Takara'],
  ],
  where: [
    ['{{ c.products | where: "type", "kitchen" | map: "name" | join: "," }}', 'Spatula,garlic press'],
    ['{{ c.products | where: "available" | map: "name" | join: "," }}', 'Vacuum,garlic press'],
  ],
  // Jekyll's.
  array_to_sentence_string: [
    [
      '{{ "foo,bar,baz" | split: "," | array_to_sentence_string }} {{ "foo,bar,baz" | split: "," | array_to_sentence_string: "or" }}',
      'foo, bar, and baz foo, bar, or baz',
    ],
  ],
  cgi_escape: [['{{ "foo, bar; baz?" | cgi_escape }}', 'foo%2C+bar%3B+baz%3F']],
  uri_escape: [['{{ "foo, bär?" | uri_escape }}', 'foo,%20b%C3%A4r?']],
  number_of_words: [['{{ "Hello world, again" | number_of_words }}', '3']],
  normalize_whitespace: [['{{ "a \n b" | normalize_whitespace }}', 'a b']],
  slugify: [
    [
      '{{ "The _config.yml file" | slugify }} {{ "The _cönfig.yml file" | slugify: "latin" }}',
      'the-config-yml-file the-config-yml-file',
    ],
  ],
  jsonify: [['{{ c.numbers | jsonify }} {{ c.numbers | json }} {{ "x" | inspect }}', '[3,1,2] [3,1,2] &quot;x&quot;']],
  group_by: [
    [
      '{% assign g = c.products | group_by: "type" %}{% for one in g %}{{ one.name }}:{{ one.items.size }} {% endfor %}',
      'electronics:1 kitchen:2 ',
    ],
  ],
  where_exp: [['{{ c.products | where_exp: "one", "one.price > 10" | map: "name" | join }}', 'Vacuum']],
  find: [['{% assign one = c.products | find: "type", "kitchen" %}{{ one.name }}', 'Spatula']],
  push: [
    [
      '{{ c.numbers | push: 9 | join }} {{ c.numbers | pop | join }} {{ c.numbers | unshift: 9 | join }} {{ c.numbers | shift | join }}',
      '3 1 2 9 3 1 9 3 1 2 1 2',
    ],
  ],
  to_integer: [['{{ "7" | to_integer | plus: 1 }}', '8']],
  xml_escape: [['{{ "<a>" | xml_escape }}', '&lt;a&gt;']],
};

describe.each(Object.entries(cases))('%s', (_filter, rows) => {
  test.each(rows)('%s', async (layout, html) => {
    expect(await show(layout)).toBe(html);
  });
});

test('a filter that does not exist is an error of the layout', () => {
  expect(() => layouts.compile({ path: 'blocks/a.html', text: '{{ "a" | upcased }}' })).toThrow(/upcased/);
});
