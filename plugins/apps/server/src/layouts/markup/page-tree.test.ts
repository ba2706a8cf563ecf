import type { DefaultTreeAdapterMap } from 'parse5';
import { describe, expect, test } from 'vitest';
import { markupLimits, TooLargeInline, Work } from './bounded-parser';
import { applyRules, ThemePage } from './markup';
import { PageTree, type RuleAction, ruleActions, type Splice } from './page-tree';
import { descendants, isElement, parseDocument } from './selectors';

/** Every node as text, elements with their positions. */
const outline = (root: DefaultTreeAdapterMap['node']) =>
  descendants(root).map((node) => {
    if (!isElement(node)) return JSON.stringify([node.nodeName, 'value' in node && node.value]);
    const { tagName, attrs, parentNode, sourceCodeLocation: place } = node;
    const at = (tag?: { startOffset: number; endOffset: number }) => tag && [tag.startOffset, tag.endOffset];
    return JSON.stringify([
      ...[tagName, attrs, parentNode?.nodeName, at(place ?? undefined)],
      ...[at(place?.startTag), at(place?.endTag)],
    ]);
  });

interface Step {
  action: RuleAction;
  target: string;
  piece: string;
}

/** Puts the pieces into a tree, which is compared with that of the text after each; returns the text, and how often it was parsed. */
function applied(html: string, steps: readonly Step[]) {
  let tree = new PageTree(html, Work.timed());
  let [text, parsed] = [html, 0];
  for (const { action, target, piece } of steps) {
    const page = new ThemePage(text);
    const splices = [...page.splices(action, target)].sort((a, b) => a.from - b.from);
    const elements = descendants(tree.root).filter(isElement);
    // The same elements in the tree that is changed, which has them in the same order.
    const others = descendants(parseDocument(text, Work.timed()).root).filter(isElement);
    const orderOf = (one: Splice) =>
      others.findIndex(
        ({ sourceCodeLocation: place }) =>
          place?.startTag &&
          JSON.stringify([place.startOffset, place.endOffset]) ===
            JSON.stringify([one.element.sourceCodeLocation?.startOffset, one.element.sourceCodeLocation?.endOffset]),
      );
    const own = splices.map((one) => ({ ...one, element: elements[orderOf(one)] ?? one.element }));
    if (own.length === 0) continue;
    page.put(splices, piece);
    text = page.html;
    if (!tree.put(own, piece, text, Work.timed())) {
      parsed += 1;
      tree = new PageTree(text, Work.timed());
    }
    expect(outline(tree.root)).toEqual(outline(parseDocument(text, Work.timed()).root));
  }
  return { text, parsed };
}

const page = (body: string, head = '<title>t</title>') =>
  `<!doctype html>\n<html><head>${head}</head>\n<body class="x">${body}</body></html>\n`;
const form = '<form name="a"><input name="i"><p>1<p>2<ul><li>a<li>b</ul><table><tr><td>x</table></form>';

describe('a piece is put into the tree', () => {
  test.each<[string, string, RuleAction, string, string]>([
    ['before an element', '<main><h1>1</h1><p>2</p></main>', 'before', 'h1', form],
    ['after an element', '<main><h1>1</h1><p>2</p></main>', 'after', 'h1', form],
    ['in place of an element', '<main><h1>1</h1><p>2</p></main>', 'replace', 'h1', form],
    ['at the begin of an element', '<main>\n<h1>1</h1>x</main>', 'prepend', 'main', form],
    ['at the end of an element', '<main>\n<h1>1</h1>x</main>', 'append', 'main', form],
    ['into an empty element', '<main></main><aside></aside>', 'append', 'main, aside', form],
    ['at the begin of an empty element', '<main></main><aside></aside>', 'prepend', 'aside, main', form],
    ['beside each of several', '<ul><li>1</li><li>2</li>\n<li>3</li></ul>', 'after', 'li', '<li>x</li>'],
    ['in place of neighbours', '<div><b>1</b><b>2</b></div><b>3</b>', 'replace', 'b', '<i>long</i>'],
    ['in place of a longer one', '<div><form><input><b></b></form></div>z', 'replace', 'form', '<p></p>'],
    ['beside a void element', '<div><img src=a>1<br></div>', 'after', 'img, br', form],
    ['in an element of the theme', '<my-card></my-card>', 'append', 'my-card', form],
    ['in the body', '<h1>1</h1>', 'append', 'body', form],
    ['at the begin of the body', '\n<h1>1</h1>', 'prepend', 'body', form],
    ['beside paragraphs without ends', '<div><p>1<p>2</div><div>3</div>', 'before', 'div + div', form],
    [
      'beside a template and a picture',
      '<template><p>1</template><svg><path/></svg><div></div>',
      'append',
      'div',
      form,
    ],
    [
      'with a comment, a script and a picture',
      '<div></div>',
      'append',
      'div',
      '<b></b><!-- c --><script>"<p>"</script><svg><path/></svg>',
    ],
  ])('%s', (_, body, action, target, piece) => {
    expect(applied(page(body), [{ action, target, piece }]).parsed).toBe(0);
  });

  test('by several rules, whose targets lie in each other and in what was put in', () => {
    const steps: Step[] = [
      { action: 'append', target: 'main', piece: '<section><div class=a></div></section>' },
      { action: 'before', target: '.a', piece: '<div class=b>1</div>' },
      { action: 'append', target: 'main, .b', piece: '<i></i>' },
      { action: 'replace', target: 'section > .b', piece: '<div class=c><span></span></div>' },
      { action: 'prepend', target: '.c span', piece: '<u>2</u>' },
      { action: 'after', target: 'main', piece: '<aside></aside>' },
      { action: 'append', target: 'div:empty', piece: '<b></b>' },
      { action: 'append', target: 'section > :nth-child(2)', piece: '<hr>' },
    ];
    const { text, parsed } = applied(page('<main></main>'), steps);
    expect(parsed).toBe(0);
    expect(text).toBe(
      page(
        '<main><section><div class=c><span><u>2</u></span></div><div class=a><b></b><hr></div></section><i></i></main><aside></aside>',
      ),
    );
  });
});

describe('the changed text is parsed', () => {
  test.each<[string, string, RuleAction, string, string]>([
    ['for a text', page('<main></main>'), 'append', 'main', 'text'],
    ['for a text after an element', page('<main></main>x'), 'after', 'main', '<b></b>x'],
    ['for the end of a tag in a text', page('<main></main>x'), 'after', 'main', '<b></b>>'],
    ['for an element that stays open', page('<main></main>x'), 'append', 'main', '<p>1'],
    ['for an item that stays open', page('<ul></ul>x'), 'append', 'ul', '<li>1<b></b>'],
    ['for a tag without an element', page('<main></main>'), 'append', 'main', '<b></b></div><i></i>'],
    ['for cells without a table', page('<main></main>'), 'append', 'main', '<b></b><td>1</td><i></i>'],
    ['for crossed tags', page('<main></main>'), 'append', 'main', '<b><p>1</b>2</p><body><hr>'],
    ['for a comment that stays open', page('<main></main>x'), 'append', 'main', '<b></b><!-- <i></i>'],
    ['for another body', page('<main></main>'), 'append', 'main', '<div></div><body a=1><div></div>'],
    ['in a paragraph', page('<p id=a>1</p>'), 'append', 'p', form],
    ['in a link', page('<a>1</a>'), 'append', 'a', '<a>2</a>'],
    ['in a cell', page('<table><tr><td>1</td></tr></table>'), 'append', 'td', form],
    ['in a table', page('<table><tr><td>1</td></tr></table>'), 'append', 'table', form],
    ['in a list of options', page('<select></select>'), 'append', 'select', form],
    ['in a picture', page('<svg><g></g></svg>'), 'append', 'g', form],
    ['in a title', page(''), 'append', 'title', form],
    ['in the head', page(''), 'append', 'head', form],
    ['in preformatted text', page('<pre>\n\n1</pre>'), 'prepend', 'pre', form],
    ['after an element that stays open', page('<div><p>1</div>'), 'append', 'div', form],
    ['before what ends a paragraph', page('<div><p>1<div></div></div>'), 'before', 'div div', form],
    ['after an item without an end', page('<ul><li>1<li>2</ul>'), 'after', 'li:first-child', '<li>x</li>'],
    ['in a page without a body', '<main></main>', 'append', 'main', form],
    ['in a page whose body has no end', '<body><main></main>', 'append', 'main', form],
    ['in a page with crossed tags', page('<b><i>1</b>2</i><main></main>'), 'append', 'main', form],
    [
      'in a page with something in a table',
      page('<table><p>1</p><tr><td>2</table><main></main>'),
      'append',
      'main',
      form,
    ],
    ['in a page with something after its body', `${page('')}<main></main>`, 'append', 'main', form],
    ['in a page with open elements', page('<div><span>1</div><main></main>'), 'append', 'main', form],
    ['in a page of great depth', page(`${'<div>'.repeat(600)}<i></i>${'</div>'.repeat(600)}`), 'after', 'i', form],
  ])('%s', (_, html, action, target, piece) => {
    expect(applied(html, [{ action, target, piece }]).parsed).toBe(1);
  });
});

describe('the bounds of a page', () => {
  const rule = (target: string) => ({ action: 'append', target, ifContent: null }) as const;

  test('count what is put into the tree', () => {
    const many = '<b></b>'.repeat(markupLimits.nodes / 100);
    const html = page('<div></div>'.repeat(101));
    const work = Work.timed(60_000);
    const whole = new ThemePage(html, work);
    whole.put(whole.splices('append', 'div'), many);
    expect(() => whole.has('i')).toThrow(/at most 200000 elements and texts/);
  });

  test('hold on the main thread, where the page grows by many small pieces', () => {
    const rules = Array.from({ length: 200 }, () => rule('div'));
    const html = page('<div></div>'.repeat(30));
    const pieces = rules.map((_, index) => `<i>${index}</i>`);
    const whole = new ThemePage(html, Work.inline());
    expect(() => applyRules(whole, { rules, next: 0, pieces })).toThrow(TooLargeInline);
  });

  test('hold for the depth that pieces make together', () => {
    const piece = `${'<div>'.repeat(400)}${'</div>'.repeat(400)}`;
    const rules = Array.from({ length: 10 }, () => rule('div:empty'));
    const whole = new ThemePage(page('<div></div>'), Work.timed(60_000));
    const pieces = rules.map(() => piece);
    expect(() => applyRules(whole, { rules, next: 0, pieces })).toThrow(/at most 3000 elements inside each other/);
  });

  test('a kept tree is the same for the next page, whatever is put into the first', () => {
    const [first, second] = [0, 1].map(() => new ThemePage(page('<main></main>')));
    first?.put(first.splices('append', 'main'), '<b></b>');
    expect([first?.has('b'), second?.has('b'), second?.has('main:empty')]).toEqual([true, false, true]);
  });
});

/** Numbers that are the same in each run. */
function random(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const tags =
  'div section ul li p b a i span table tr td form select option svg h1 button my-card main br img pre'.split(' ');

/** HTML of random elements, some of them without their ends or with those of others. */
function randomHtml(next: (below: number) => number, depth: number, faults: number): string {
  let html = '';
  for (let count = next(4); count >= 0; count -= 1) {
    const tag = tags[next(tags.length)];
    const inner = depth > 0 ? randomHtml(next, depth - 1, faults) : 'x';
    const end = tag === 'br' || tag === 'img' ? '' : `</${next(100) < faults ? tags[next(tags.length)] : tag}>`;
    html += `<${tag} class=c${next(3)}>${inner}${next(100) < faults ? '' : end}${next(4) ? '' : '\n'}`;
  }
  return html;
}

describe('random pages and rules', () => {
  const targets = ['.c0', '.c1', '.c2', 'div', 'li', 'section > *', ':empty', 'div + *', 'body', 'p', ':has(> .c1)'];
  test.each([0, 0, 5, 20].map((faults, index) => [faults, index]))(
    'with %i faults in a hundred, %i',
    (faults, index) => {
      const next = random(42 + index);
      let [parsed, puts] = [0, 0];
      for (let round = 0; round < 40; round += 1) {
        const body = randomHtml(next, index === 1 ? 1 : 2, faults);
        const html = next(8) ? page(body) : body;
        const steps = Array.from(
          { length: 5 },
          (): Step => ({
            action: ruleActions[next(ruleActions.length)] ?? 'append',
            target: targets[next(targets.length)] ?? 'div',
            piece: next(3) ? form : randomHtml(next, 1, faults).trim(),
          }),
        );
        parsed += applied(html, steps).parsed;
        puts += steps.length;
      }
      expect(parsed).toBeLessThan(puts);
    },
  );
});
