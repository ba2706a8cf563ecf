import { expect, test } from 'vitest';
import { createLayouts, type LayoutData } from '..';

const layouts = createLayouts();
const MARK = '<i>!</i>';

const elements: Record<string, Awaited<ReturnType<LayoutData['element']>>> = {
  seats: { html: MARK, failed: true },
  free: { html: '<b>?</b>', failed: true },
  list: { value: [1, 2] },
  text: { html: 'T' },
};

const show = (text: string, more: Partial<LayoutData> = {}) =>
  layouts.compile({ path: 'blocks/a.html', text }).render({
    element: async (name) => (Object.hasOwn(elements, name) ? elements[name] : undefined),
    context: {},
    debug: false,
    onUndefined: () => {},
    ...more,
  });

test.each([
  // The mark, once, in its place.
  ['a{seats}b', `a${MARK}b`],
  ['a{{ elements.seats }}b', `a${MARK}b`],
  ['{seats}-{seats}-{{ elements.seats }}', `${MARK}--`],
  ['{seats.total}{seats[total]}{{ elements.seats.total.more }}', MARK],
  ['{seats}{free}', `${MARK}<b>?</b>`],
  // Loops.
  ['<ul>{% for s in elements.seats %}<li>x</li>{% endfor %}</ul>', `<ul>${MARK}</ul>`],
  ['{% for s in elements.seats %}x{% else %}none{% endfor %}', `${MARK}none`],
  ['{% for s in elements.seats.rows %}x{% endfor %}', MARK],
  ['{% for i in elements.list %}{{ i }}{{ elements.seats }}{% endfor %}', `1${MARK}2`],
  ['{% for i in (1..2) %}{seats}{{ i }}{% endfor %}', `${MARK}12`],
  ['{% tablerow s in elements.seats %}x{% endtablerow %}', MARK],
  // Conditions.
  ['{% if elements.seats %}yes{% else %}no{% endif %}', `${MARK}no`],
  ['{% if elements.seats %}yes{% endif %}', MARK],
  ['{% if elements.seats.full %}yes{% endif %}', MARK],
  ['{% unless elements.seats %}no{% endunless %}', `${MARK}no`],
  ['{% if elements.text and elements.seats %}yes{% endif %}', MARK],
  ['{% if elements.seats or elements.text %}yes{% endif %}', `${MARK}yes`],
  ['{% if not elements.seats %}no{% endif %}', `${MARK}no`],
  ['{% if false %}{% elsif elements.seats %}yes{% endif %}', MARK],
  ['{% if false and elements.list %}{{ elements.seats }}{% endif %}', ''],
  // Comparisons.
  ['{% if elements.seats == "" %}yes{% endif %}', `${MARK}yes`],
  ['{% if elements.seats == empty %}yes{% endif %}', `${MARK}yes`],
  ['{% if elements.seats == blank %}yes{% endif %}', `${MARK}yes`],
  ['{% if elements.seats == false %}yes{% endif %}', `${MARK}yes`],
  ['{% if elements.seats == nil %}yes{% endif %}', `${MARK}yes`],
  ['{% if elements.seats == "x" or elements.seats == 3 or elements.seats == elements.text %}yes{% endif %}', MARK],
  ['{% if elements.seats == elements.free %}yes{% endif %}', `${MARK}<b>?</b>yes`],
  ['{% if elements.seats == elements.list %}yes{% endif %}', MARK],
  ['{% if elements.seats != "x" %}yes{% endif %}', `${MARK}yes`],
  ['{% if elements.seats > 0 or elements.seats <= 0 or 1 > elements.seats %}yes{% endif %}', MARK],
  ['{% if elements.seats contains "i" %}yes{% endif %}', MARK],
  ['{% if elements.seats.size == 0 %}yes{% endif %}', `${MARK}yes`],
  ['{% if elements.seats.size > 0 %}yes{% endif %}', MARK],
  ['{% case elements.seats %}{% when "open" %}open{% else %}other{% endcase %}', `${MARK}other`],
  ['{% case elements.seats %}{% when "" %}nothing{% else %}other{% endcase %}', `${MARK}nothing`],
  ['{% case elements.seats %}{% when empty %}nothing{% endcase %}', `${MARK}nothing`],
  ['{% case elements.text %}{% when elements.seats %}same{% else %}other{% endcase %}', `${MARK}other`],
  // Values.
  ['{{ elements.seats.size }}', `${MARK}0`],
  ['{{ elements.seats | size }}', `${MARK}0`],
  ['{{ elements.seats.first }}{{ elements.seats.last }}{{ elements.seats[0] }}', MARK],
  ['{{ elements.seats | upcase | append: "x" }}', `${MARK}x`],
  ['{{ elements.seats | default: "none" }}', `${MARK}none`],
  ['{{ elements.seats | plus: 1 }}', `${MARK}1`],
  ['{{ elements.seats | where: "a", 1 | map: "b" | join: "," }}', MARK],
  ['{{ elements.seats | sort | reverse | first }}', MARK],
  ['{{ elements.list | concat: elements.seats | join }}', `${MARK}1 2`],
  ['{{ "a" | append: elements.seats }}', `${MARK}a`],
  ['{{ elements.text | raw }}{{ elements.seats | raw }}', `T${MARK}`],
  ['a{% assign s = elements.seats %}b{{ s }}{% if s %}yes{% endif %}{{ s.size }}', `a${MARK}b0`],
  ['a{% assign s = elements.seats | split: "," %}b{{ s.size }}', `a${MARK}b0`],
  ['a{% capture s %}x{{ elements.seats }}y{% endcapture %}{{ s }}', `a${MARK}xy`],
  // Inside of a tag, a comment, a script or a style there is no place: after its end.
  ['<p {% if elements.seats %}class="a"{% endif %}>b</p>', `<p >${MARK}b</p>`],
  ['<a href="{seats}" title="{{ elements.seats }}">b</a>', `<a href="" title="">${MARK}b</a>`],
  ['<script>x = "{{ elements.seats }}"; a > b</script>c', `<script>x = ""; a > b</script>${MARK}c`],
  ['<style>{% if elements.seats %}a{% endif %}</STYLE>c', `<style></STYLE>${MARK}c`],
  ['<!-- {{ elements.seats }} -> -->c', `<!--  -> -->${MARK}c`],
  ['<script>{{ elements.seats }}', `<script>${MARK}`],
  ['1 < {{ elements.seats }} 2', `1 < ${MARK} 2`],
])('a failed element in %s', async (text, expected) => {
  expect(await show(text)).toBe(expected);
});

test('an undeclared element is empty too in debug mode, with its mark where it is shown', async () => {
  const text =
    '{% for a in elements.none %}x{% else %}-{% endfor %}{% if elements.none %}y{% endif %}{none}{{ elements.none }}';
  expect(await show(text, { debug: true })).toBe('-UNDEFINED ELEMENTUNDEFINED ELEMENT');
});

test('a partial has the mark too', async () => {
  const partials = new Map([['card', { path: 'partials/card.html', text: '[{% if list %}yes{% endif %}]' }]]);
  const source = { path: 'blocks/a.html', text: '{% render "card", list: elements.seats %}{seats}', partials };
  const rendered = layouts.compile(source).render({
    element: async (name) => elements[name],
    context: {},
    debug: false,
    onUndefined: () => {},
  });
  expect(await rendered).toBe(`${MARK}[]`);
});
