import { describe, expect, test } from 'vitest';
import { processorTime } from '../common/testing/processor-time';
import { createLayouts, type LayoutData } from '.';

/** Layouts made for Rapido are Python's format strings, in which doubled braces are literal ones. */
const layouts = createLayouts();
const data: LayoutData = {
  element: async (name) => (name === 'n' ? { html: '3' } : name === 'info' ? { value: { a: { b: '<' } } } : undefined),
  context: {},
  debug: false,
  onUndefined: () => undefined,
};
const show = (text: string, rapido = true) => layouts.compile({ path: 'blocks/a.html', text, rapido }).render(data);

describe('doubled braces', () => {
  test.each([
    ['<a data-pat-modal=\'{{"content": "form"}}\'>{n}</a>', '<a data-pat-modal=\'{"content": "form"}\'>3</a>'],
    ['{{n}}', '{n}'],
    ['{{{n}}}', '{3}'],
    ['{{{{n}}}}', '{{n}}'],
    ['{n}{{}}{n}', '3{}3'],
    ['{{ context.app }}', '{ context.app }'],
    ['<style>p {{ color: red }}</style>', '<style>p { color: red }</style>'],
    ['<script>if (a) {{ b = {n}; if (c) {{ d() }} }}</script>', '<script>if (a) { b = 3; if (c) { d() } }</script>'],
    ['<!-- {n} {{n}} -->', '<!-- 3 {n} -->'],
    ['{info[a][b]} { n } {"a": 1}', '&lt; { n } {"a": 1}'],
    ['{% if true %}{n}{% endif %}', '3'],
    ['{% raw %}{{n}}{% endraw %}', '{{n}}'],
    ['a  {%- if true -%}  {{  {%- endif -%}  b', 'a{b'],
  ])('of %s', async (text, shown) => {
    expect(await show(text)).toBe(shown);
  });

  test('are Liquid elsewhere', async () => {
    expect(await show('{{ 1 }}{n}', false)).toBe('13');
  });

  test('place no element', () => {
    const layout = layouts.compile({ path: 'a', text: '{{n}} {info} <input name="{{x}}">', rapido: true });
    expect(layout.elements).toEqual(['info']);
    expect(layout.shows('n')).toBe(false);
  });

  test('take linear time', async () => {
    const render = async () => expect((await show('{{'.repeat(100_000))).length).toBe(100_000);
    expect(await processorTime(render)).toBeLessThan(1_000);
  });
});
