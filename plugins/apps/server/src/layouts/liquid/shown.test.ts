import { describe, expect, test } from 'vitest';
import { createLayouts } from '..';

const { compile } = createLayouts();
const shown = (text: string) => {
  const { shows } = compile({ path: 'blocks/a.html', text });
  return ['a', 'b', 'a.b'].filter(shows);
};

describe('the elements that a layout shows', () => {
  const cases: [layout: string, shown: string[]][] = [
    ['', []],
    ['{a}', ['a']],
    ['{a.b}', ['a', 'a.b']],
    ['{{ elements.a }}', ['a']],
    ['{{ elements . a | upcase }}', ['a']],
    [`{{ elements["a.b"] }}{{ elements['b'] }}`, ['b', 'a.b']],
    ['{% for one in elements.a %}{{ one.elements.b }}{% endfor %}', ['a']],
    ['{% if elements.a == elements.b %}x{% endif %}', ['a', 'b']],
    ['{{ elements[context.name] }}', ['a', 'b', 'a.b']],
    ['{% assign all = elements %}', ['a', 'b', 'a.b']],
    ['{{ "elements.a" }}{{ my_elements.a }}{{ context.elements.a }}', []],
    ['elements.a', []],
    ['{% comment %}{a}{{ elements.a }}<input name="b">{% endcomment %}', []],
    ['{% raw %}{{ elements.a }}{a}{% endraw %}', []],
    ['<input name="a">', ['a']],
    ["<INPUT type=text NAME = 'a'/>", ['a']],
    ['<select class="wide" name=a><option name="b"></select>', ['a']],
    ['<textarea\nname="a.b">', ['a.b']],
    ['<button name="a">', ['a']],
    ['<input value="{{ context.x }}" {% if context.y %}checked{% endif %} name="a">', ['a']],
    ['<input name="{{ context.x }}a"><input data-name="b">', []],
    ['<meta name="a"><p name="b">', []],
    ['<input <input name="a"', ['a']],
  ];
  test.each(cases)('of %s', (layout, expected) => {
    expect(shown(layout)).toEqual(expected);
  });
});

test.each([
  ['<p>context</p>', false],
  ['{% raw %}{{ context.x }}{% endraw %}', false],
  ['{{ contexts }}', false],
  ['{{ context.x }}', true],
  ['{% if context.x %}y{% endif %}', true],
  ['{% liquid\n  assign x = context.x\n  echo x\n%}', true],
  ["{{ ['context'].x }}", true],
])('%s names the context: %s', (layout, expected) => {
  expect(compile({ path: 'blocks/a.html', text: layout }).namesContext).toBe(expected);
});
