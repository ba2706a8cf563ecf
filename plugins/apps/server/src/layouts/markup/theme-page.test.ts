import { describe, expect, test } from 'vitest';
import { isAppsError } from '../../common/errors';
import { balanced } from './kept-trees';
import { selected, ThemePage } from './markup';
import type { RuleAction } from './page-tree';
import { selectorProblem } from './selectors';

/** A page after one rule. */
function after(html: string, action: RuleAction, selector: string, piece = '[X]'): string {
  const page = new ThemePage(html);
  page.put(page.splices(action, selector), piece);
  return page.html;
}

describe('ThemePage', () => {
  test.each<[RuleAction, string, string, string]>([
    ['before', '#a', '<p><b id=a>1</b></p>', '<p>[X]<b id=a>1</b></p>'],
    ['after', '#a', '<p><b id=a>1</b></p>', '<p><b id=a>1</b>[X]</p>'],
    ['replace', '#a', '<p><b id=a>1</b></p>', '<p>[X]</p>'],
    ['prepend', '#a', '<p><b id=a>1</b></p>', '<p><b id=a>[X]1</b></p>'],
    ['append', '#a', '<p><b id=a>1</b></p>', '<p><b id=a>1[X]</b></p>'],
    ['append', 'p', '<p>1<p>2', '<p>1[X]<p>2[X]'],
    [
      'append',
      'body',
      '<title>t</title>\r\n<BODY>\t1 &copy &#X41;</BODY>\n',
      '<title>t</title>\r\n<BODY>\t1 &copy &#X41;[X]</BODY>\n',
    ],
    ['append', 'body', '<p>no body is written out', '<p>no body is written out'],
    ['append', 'img', '<img>', '<img>'],
    ['after', 'img', '<img>', '<img>[X]'],
    ['append', 'li:last-child', '<ul><li>1<li>2</ul>', '<ul><li>1<li>2[X]</ul>'],
    ['before', '.none', '<p>1</p>', '<p>1</p>'],
    [
      'before',
      'a',
      '<div><a href=x>1</div><div>2</div><div>3</div>',
      '<div>[X]<a href=x>1</div><div>2</div><div>3</div>',
    ],
    ['append', 'div', '<div>1<div>2</div></div>', '<div>1<div>2</div>[X]</div>'],
    ['before', 'b', '<form><b></b></form>', '<form><b></b></form>'],
    ['append', 'form', '<form></form>', '<form></form>'],
    ['replace', 'form', '<form></form>', '[X]'],
    ['after', 'form', '<form></form>', '<form></form>[X]'],
    [
      'append',
      'p',
      '<template><p></p></template><!-- <p></p> --><script>"<p></p>"</script>',
      '<template><p></p></template><!-- <p></p> --><script>"<p></p>"</script>',
    ],
    [
      'append',
      'section:has(b)',
      '<section><b></b></section><section></section>',
      '<section><b></b>[X]</section><section></section>',
    ],
    ['append', 'b', 'ä😀<b>ü</b>', 'ä😀<b>ü[X]</b>'],
  ])('%s %s in %s', (action, selector, html, expected) => {
    expect(after(html, action, selector)).toBe(expected);
  });

  test('matches elements that an earlier rule has inserted', () => {
    const page = new ThemePage('<main></main>');
    page.put(page.splices('append', 'main'), '<p></p>');
    page.put(page.splices('append', 'p'), '1');
    expect(page.html).toBe('<main><p>1</p></main>');
  });

  test('refuses an invalid selector', () => {
    const failure = (() => {
      try {
        return new ThemePage('').has('((');
      } catch (error) {
        return error;
      }
    })();
    expect(isAppsError(failure, 'DefinitionError')).toBe(true);
  });
});

describe('balanced', () => {
  test.each([
    '<form>1</form>',
    '<p>1<p>2<ul><li>a<li>b</ul>',
    '<table><tr><td>1<td>2</table>',
    '<svg viewBox="0 0 1 1"><path d="M0"/></svg>',
    "<a title='x' data-x=1>a & b</a><br><img src=x>",
    '<!-- fine --><select><option>1<option>2</select>',
    'text only',
    '',
  ])('returns %s unchanged', (html) => expect(balanced(html)).toBe(html));

  test.each([
    ['</main>1', '1'],
    ['<div>1', '<div>1</div>'],
    ['<form>1</div></form>', '<form>1</form>'],
    ['<form><div>1</form>', '<form><div>1</div></form>'],
    ['1<!-- open', '1<!-- open-->'],
    ['1<div class="', '1'],
    ['<script>1', '<script>1</script>'],
    ['<textarea></div>', '<textarea>&lt;/div&gt;</textarea>'],
    ['<b><i>1</b>2</i>', '<b><i>1</i></b><i>2</i>'],
  ])('balances %s', (html, expected) => expect(balanced(html)).toBe(expected));

  test('balances 2,000 nested elements', () => {
    expect(balanced('<div>'.repeat(2_000)).endsWith('</div>')).toBe(true);
  });
});

describe('a search of polynomial time', () => {
  const siblings = '<p>x</p>'.repeat(400);
  const deep = `${'<div>'.repeat(400)}x${'</div>'.repeat(400)}`;
  test.each([
    ['x ~ p ~ p ~ p ~ p', siblings],
    [':has(~ p:has(~ p:has(~ x)))', siblings],
    ['div:has(div:has(div:has(x)))', deep],
    ['div:not(x div div div div)', deep],
  ])('%s is stopped, and so are the searches after it', (selector, html) => {
    const page = new ThemePage(`<main>${html}</main>`);
    const failure = (message: string) => expect.objectContaining({ name: 'DefinitionError', message });
    expect(() => page.has(selector)).toThrow(failure(expect.stringMatching(/takes too long/)));
    expect(() => page.has('main')).toThrow(failure(expect.stringMatching(/rules take longer than 400 ms/)));
    expect(new ThemePage('<main></main>').has('main')).toBe(true);
  });
});

describe('selected', () => {
  test.each([
    ['b', '<form><b>1</b><i><b>2</b></i></form>', '<b>1</b>\n<b>2</b>'],
    ['.none', '<form></form>', ''],
    ['form > p', '<form><p>1<p>2</form>', '<p>1\n<p>2'],
  ])('%s of %s', (selector, html, expected) => expect(selected(html, selector)).toBe(expected));
});

describe('selectorProblem', () => {
  test.each(['main', '.a > #b', 'h1:contains("x")', ':is(h1, h2)', '[data-x="1"] ~ p'])('takes %s', (selector) => {
    expect(selectorProblem(selector)).toBeNull();
  });
  test.each(['', '((', 'a:nosuch', '[x', 'a'.repeat(1001)])('refuses %s', (selector) => {
    expect(selectorProblem(selector)).toEqual(expect.any(String));
  });
});
