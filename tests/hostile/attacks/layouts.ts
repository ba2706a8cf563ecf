import type { Attack } from './attack';

const html = { accept: 'text/html' };

const grown = (unit: string, doublings: number, name = 's') =>
  `{% assign ${name} = "${unit}" %}{% for i in (1..${doublings}) %}{% assign ${name} = ${name} | append: ${name} %}{% endfor %}`;

/** A layout of a block: shown, or refused with the layout's error. */
const layout = (name: string, outcome: 'shown' | 'refused' | 'either', liquid: string, count = 1): Attack => ({
  name: `markup-layout-${name}`,
  block: { html: liquid },
  requests: Array.from({ length: count }, () => ({
    method: 'GET',
    path: '/site/@@apps/attack/blocks/{id}',
    headers: html,
  })),
  status: outcome === 'either' ? [200, 500] : outcome === 'shown' ? 200 : 500,
  within: 3_000 + 1_000 * count,
});

/** Liquid of a block's layout: loops, and texts and lists that grow. */
export const layouts: readonly Attack[] = [
  {
    ...layout(
      'loops',
      'refused',
      '{% for i in (1..400) %}{% for j in (1..400) %}{% for k in (1..9) %}{% if i > j and j contains k %}{% endif %}{% endfor %}{% endfor %}{% endfor %}',
      8,
    ),
    short: true,
  },
  layout(
    'search',
    'refused',
    `${grown('a', 20)}${grown('a', 17, 'p')}{% assign p = p | prepend: "b" %}{{ s | replace: p, "x" | size }}`,
  ),
  layout(
    'search-last',
    'refused',
    `${grown('a', 20)}${grown('a', 17, 'p')}{% assign p = p | append: "b" %}{{ s | remove_last: p | size }}`,
  ),
  layout(
    'contains',
    'refused',
    `${grown('a', 20)}${grown('a', 17, 'p')}{% assign p = "b" | append: p | append: "b" %}{% if s contains p %}x{% endif %}`,
  ),
  layout('date', 'refused', `${grown('%c', 18)}{{ "now" | date: s | size }}`),
  layout('sample', 'refused', `${grown('ab', 19)}{{ s | sample: 5 }}`),
  layout('escape', 'either', `${grown('<', 19)}${'{{ s }}'.repeat(6)}`),
  layout('escape-twice', 'refused', `${grown('<', 20)}${'{% assign s = s | escape %}'.repeat(8)}{{ s | size }}`),
  layout('strip-html', 'shown', `${grown('<script', 17)}{{ s | strip_html | size }}`),
  layout(
    'strip',
    'shown',
    `${grown(' ', 20)}{% assign s = s | append: "x" | prepend: "x" %}{{ s | strip | rstrip | squish | normalize_whitespace | size }}`,
  ),
  layout(
    'lists-in-lists',
    'refused',
    `{% assign l = "a,b" | split: "," %}{% for i in (1..40) %}{% assign l = l | push: l %}{% endfor %}{{ l }}`,
  ),
  layout(
    'lists-joined',
    'refused',
    `{% assign l = "a,b" | split: "," %}{% for i in (1..40) %}{% assign l = l | push: l %}{% endfor %}{{ l | join: "" | size }}`,
  ),
  layout(
    'long-entries',
    'refused',
    `${grown('a', 19)}{% assign l = "" | split: "," %}{% for i in (1..300) %}{% assign l = l | push: s %}{% endfor %}{{ l }}`,
  ),
  layout(
    'sort',
    'either',
    `{% assign l = (1..100000) | join: "A" | split: "A" | sort_natural %}{% assign l = l | sort | reverse | uniq %}{{ l | size }}`,
  ),
  layout('range', 'refused', '{% for i in (1..19000000) limit: 1 %}{% endfor %}'),
  layout(
    'json',
    'either',
    '{% assign l = (1..100000) %}{% for i in (1..9) %}{{ l | json | size }}{{ l | inspect | size }}{% endfor %}',
  ),
];
