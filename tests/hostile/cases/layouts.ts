import { broken, type Case } from './case';

const refused = (name: string, layout: string): Case => ({
  name: `layout-${name}`,
  js: values,
  layout,
  path: '',
  ...broken,
});
const shown = (name: string, layout: string, expected: Partial<Case>): Case => ({
  name: `layout-${name}`,
  js: values,
  layout,
  path: '',
  status: 200,
  ...expected,
});

const values = `export function on_display(context) {
  context.arr = Array.from({ length: 20000 }, (_, i) => i);
  context.big = 'b'.repeat(100000);
  context.obj = { k: '<script>alert(1)</script>' };
}
export const f = () => '<i>one</i>';`;

/** Layouts that would keep the server's own thread busy, fill its memory, or show data of others. */
export const layouts: readonly Case[] = [
  refused('loop', '{% for i in (1..1000000000) %}x{% endfor %}'),
  refused(
    'loops',
    '{% for i in (1..1000) %}{% for j in (1..1000) %}{% for k in (1..1000) %}{% endfor %}{% endfor %}{% endfor %}',
  ),
  refused('loops-many', `${'{% for i in (1..2) %}'.repeat(25)}x${'{% endfor %}'.repeat(25)}`),
  refused('elements', '{% for i in (1..100000) %}{f}{% endfor %}'),
  refused('table', '{% tablerow i in (1..1000000) cols: 1000000 %}{{ i }}{% endtablerow %}'),
  refused(
    'append',
    '{% assign s = "xxxxxxxxxx" %}{% for i in (1..40) %}{% assign s = s | append: s %}{% endfor %}{{ s | size }}',
  ),
  refused(
    'capture',
    '{% for i in (1..100) %}{% capture c %}{{ c }}{{ c }}{{ context.big }}{% endcapture %}{% endfor %}{{ c | size }}',
  ),
  refused(
    'replace',
    '{% assign s = "aaaaaaaaaa" %}{% for i in (1..12) %}{% assign s = s | replace: "a", s %}{% endfor %}{{ s | size }}',
  ),
  refused('date', '{{ "now" | date: "%900000000d" | size }}'),
  refused('itself', '{% block "hostile/blocks/layout-itself" %}'),
  refused('range', '{% assign x = (1..100000000) %}{{ x | size }}'),
  refused('range-joined', '{{ (1..50000000) | join: "a" }}'),
  refused('find', '{% for i in (1..100) %}{% assign s = context.arr | find_exp: "i", "i > 500000" %}{% endfor %}'),
  refused(
    'split',
    '{% assign s = context.big | split: "" %}{% for i in (1..200) %}{% assign t = s | sort | reverse | uniq | join: "," %}{% endfor %}{{ t | size }}',
  ),
  refused('nested', '{% if true %}'.repeat(15000)),
  refused('tags', '{%'.repeat(100000)),
  refused('include', '{% include "../../settings.yaml" %}{% render "x" %}{% layout "y" %}'),
  refused('unclosed', '{% if %}{{ {% for'),
  shown('braces', '{f'.repeat(100000), { has: /(\{f){100}/ }),
  shown(
    'constructors',
    '{{ context.constructor }}|{{ context.__proto__ }}|{{ context.obj.constructor.name }}|{{ "x".constructor }}|{{ context.app.constructor.constructor }}|{{ context.obj.__proto__.toString }}|{{ context.obj["constructor"] }}|{obj.constructor}|{obj.__proto__}|',
    {
      has: /\|{6}/,
      lacks: /function|Object|native/,
    },
  ),
  shown('raw', '{% raw %}{{ a }}{% endraw %}{{ "<script>alert(1)</script>" }}{{ context.obj.k }}', {
    has: /\{\{ a \}\}&lt;script&gt;alert\(1\)&lt;\/script&gt;&lt;script&gt;/,
    lacks: /<script>alert/,
  }),
];
