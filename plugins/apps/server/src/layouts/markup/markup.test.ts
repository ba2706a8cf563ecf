import { type DefaultTreeAdapterMap, parse, parseFragment, serialize } from 'parse5';
import { describe, expect, test, vi } from 'vitest';
import { AppsError } from '../../common/errors';
import { WorkerFailure } from '../../workers';
import { inlineLimits, markupLimits, TooLargeInline, Work } from './bounded-parser';
import { createMarkup, doMarkup, type MarkupWorkers, type PageRule, workersHere } from './markup';
import { descendants, isElement, parseDocument, parsePiece } from './selectors';

/** Good and bad HTML of people and editors. */
const samples: Record<string, string> = {
  page: '<!doctype html><html lang=en><head><title>a & b</title></head><body class="x y"><p>1<p>2<br>3</body></html>\n',
  'attributes of a second body': '<body a=1><p>x<body a=2 b=3><html c=4>',
  'unclosed formatting': '<p><b><i>1</p><p>2</b>3</i><p>4',
  'crossed formatting': '<a href=1><div>1<a href=2>2</div>3</a><b>4<p>5</b>6</p>',
  'the same formatting often': '<b><b><b><b><b>1<div>2</div></b>3<p>4',
  'text in a table': '<table>a<tr>b<td>c</td>d<b>e<td>f</table>g',
  'elements in a table': '<table><p>1</p><tr><td>2<table>3<tr><td>4</table></table>',
  'a form in a table': '<table><form><tr><td><input></table></form>x',
  select: '<select><option>1<option>2<optgroup><option>3</select><select><select>',
  lists: '<ul><li>1<ul><li>2</ul><li>3<dl><dt>a<dd>b<dt>c</dl></ul>',
  svg: '<svg viewBox="0 0 1 1"><foreignObject><p>x</p></foreignObject><path d="M0"/><p>out',
  math: '<math><mi>x<mtext><b>1</mtext><annotation-xml encoding="text/html"><p>y',
  template: '<template><tr><td>1</template><template><p>2<template>3',
  'scripts and styles': '<script>"<p>"</script><style>a{}</style><textarea><p></textarea><noscript><p></noscript>',
  comments: '<!-- a --><p>1<!-- b --!>2<!c><?d?><![CDATA[x]]>',
  'what is cut off': '<p>1<b class="x',
  references: '&amp; &copy &notit; &#x41; &#0; &unknown; &lt',
  'twice the same attribute': '<p a=1 b=2 A=3>x</p>',
  'null characters': 'a\0b<p\0>c</p\0><svg>\0</svg>',
  headings: '<h1>1<h2>2</h1>3<button>a<button>b</button>',
  ruby: '<ruby>a<rt>b<rp>c</ruby><nobr>1<nobr>2',
  frames: '<frameset><frame></frameset><p>x',
  quirks: '<p><table><tr><td>1</table>',
  pre: '<pre>\n\n1</pre><textarea>\n2</textarea><plaintext></p>',
};

/** Every node as text, elements with their positions. */
const outline = (root: DefaultTreeAdapterMap['node']) =>
  descendants(root).map((node) => {
    const { startOffset, endOffset, startTag, endTag } =
      (node.sourceCodeLocation as { [key: string]: unknown } | null | undefined) ?? {};
    if (!isElement(node)) return JSON.stringify([node.nodeName, 'value' in node && node.value]);
    return JSON.stringify([node.nodeName, node.attrs, startOffset, endOffset, startTag, endTag]);
  });

describe.each(Object.entries(samples))('%s', (_, html) => {
  const located = { sourceCodeLocationInfo: true };
  test.each([
    ['inline', () => Work.inline()],
    ['in a worker', () => Work.timed()],
  ])('is parsed as parse5 does, %s', (__, work) => {
    const [document, piece] = [parse(html, located), parseFragment(html, located)];
    expect(serialize(parseDocument(html, work()).root)).toBe(serialize(document));
    expect(outline(parseDocument(html, work()).root)).toEqual(outline(document));
    expect(serialize(parsePiece(html, work()).root)).toBe(serialize(piece));
    expect(outline(parsePiece(html, work()).root)).toEqual(outline(piece));
  });
});

const many = (count: number, text: string) =>
  Array.from({ length: count }, (_, n) => text.replace('#', `${n}`)).join('');

describe('a limit', () => {
  const words = (what: string) => new RegExp(`at most ${what}`);
  test.each([
    ['characters', 'x'.repeat(markupLimits.characters + 1), words('4000000 characters')],
    ['nodes', '<br>'.repeat(markupLimits.nodes + 1), words('200000 elements and texts')],
    ['depth', '<div>'.repeat(markupLimits.depth + 1), words('3000 elements inside each other')],
    ['attributes', `<p ${many(1_001, 'a# ')}>`, words('1000 attributes in one tag')],
    ['attributes of many tags', many(1_002, '<body a#>'), words('1000 attributes in one tag')],
    [
      'repeated attributes',
      `<p><b a="${'x'.repeat(100_000)}">${'</p><p>x'.repeat(100)}`,
      words('8000000 characters in attributes'),
    ],
  ])('of %s', { timeout: 30_000 }, (_, html, message) => {
    const task = { task: 'select', input: { html, selector: 'p' }, time: 30_000 } as const;
    const attempt = () => (html.includes('<body') ? parseDocument(html, Work.timed()) : doMarkup(task));
    expect(attempt).toThrow(
      expect.objectContaining({ name: 'DefinitionError', message: expect.stringMatching(message) }),
    );
  });

  test.each([['time', many(4_000, '<b i#>') + '<div>x</div>'.repeat(4_000)]])('of %s', (_, html) => {
    const attempt = () => doMarkup({ task: 'balance', input: { html }, time: 50 });
    expect(attempt).toThrow(
      expect.objectContaining({
        name: 'DefinitionError',
        message: 'The HTML is too much work: it takes longer than 50 ms',
      }),
    );
  });

  test.each([
    ['characters', 'x'.repeat(inlineLimits.characters + 1)],
    ['elements', '<br>'.repeat(12_400)],
    ['depth', '<div>'.repeat(9_000)],
    ['open elements', '<li><ul>'.repeat(6_000)],
    ['unclosed formatting', many(4_000, '<b i#>')],
    ['adoption', `${'<b>'.repeat(500)}${'<div>'.repeat(500)}${'</b>'.repeat(9_000)}`],
    ['misplaced elements', `<table>${'<a>x'.repeat(12_000)}`],
  ])('of the main thread: %s', (_, html) => {
    const parts = () => parsePiece(html, Work.inline());
    const page = () => parseDocument(html, Work.inline());
    expect([parts, page].some((attempt) => thrown(attempt) instanceof TooLargeInline)).toBe(true);
  });

  test('parses ordinary pages on the main thread', () => {
    const card =
      '<div class="card"><h2 id="a">Title</h2><p>Some <a href="/x">text</a> of an article.</p><img src="a.png"></div>\n';
    const html = `<main>${card.repeat(440)}</main>`;
    expect(html.length).toBeGreaterThan(0.9 * inlineLimits.characters);
    expect(thrown(() => parseDocument(html, Work.inline()))).toBeUndefined();
  });
});

function thrown(work: () => unknown): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('createMarkup', () => {
  const spied = () => ({ run: vi.fn<MarkupWorkers['run']>((...all) => workersHere.run(...all)) });
  const long = `<p>${'x'.repeat(inlineLimits.characters)}`;
  const rule = (target: string, more: Partial<PageRule> = {}): PageRule => ({
    action: 'append',
    target,
    ifContent: null,
    ...more,
  });

  test('does small work on the main thread', async () => {
    const workers = spied();
    const markup = createMarkup(workers);
    expect(await markup.balanced('<b>1')).toBe('<b>1</b>');
    expect(await markup.selected('<p><b>1</b></p>', 'b')).toBe('<b>1</b>');
    expect(workers.run).not.toHaveBeenCalled();
  });

  test('gives large work to a worker process', async () => {
    const workers = spied();
    const markup = createMarkup(workers);
    expect(await markup.balanced(`${long}<b>1`)).toBe(`${long}<b>1</b></p>`);
    expect(await markup.selected(`${long}</p><b>1</b>`, 'b')).toBe('<b>1</b>');
    expect(workers.run.mock.calls.map(([, { task }]) => task)).toEqual(['balance', 'select']);
  });

  test.each([
    ['inline', '<main></main>', 0],
    ['in a worker process', `<main></main>${long}`, 3],
  ])('applies rules in rounds, %s', async (_, html, inWorker) => {
    const workers = spied();
    const markup = createMarkup(workers);
    const rules = [rule('.none'), rule('main'), rule('main', { ifContent: 'i' }), rule('main > b')];
    const first = await markup.applyRules({ html, rules, next: 0, pieces: [] });
    expect(first).toEqual({ html, next: 1, wanted: [1] });
    const second = await markup.applyRules({ ...first, rules, pieces: [undefined, '<b></b>'] });
    expect(second).toEqual({ html: html.replace('<main>', '<main><b></b>'), next: 3, wanted: [3] });
    const last = await markup.applyRules({ ...second, rules, pieces: [undefined, '<b></b>', undefined, ''] });
    expect(last).toEqual({ html: second.html, next: 4, wanted: [] });
    expect(workers.run).toHaveBeenCalledTimes(inWorker);
  });

  test('refuses rules that make the page too large', async () => {
    const pieces = ['x'.repeat(10_000)];
    const work = createMarkup(spied()).applyRules({
      html: '<p>x</p>'.repeat(500),
      rules: [rule('p')],
      next: 0,
      pieces,
    });
    await expect(work).rejects.toMatchObject({
      name: 'DefinitionError',
      message: expect.stringMatching(/rules put too much/),
    });
  });

  test.each([
    ['time', new WorkerFailure('time'), 'DefinitionError', /takes longer than 3000 ms/],
    ['memory', new WorkerFailure('ended'), 'DefinitionError', /too much memory/],
    ['being busy', new AppsError('ServiceUnavailableError', 'busy'), 'ServiceUnavailableError', /busy/],
  ])('rejects with the failure of the worker process: %s', async (_, failure, name, message) => {
    const markup = createMarkup({ run: () => Promise.reject(failure) });
    await expect(markup.balanced(long)).rejects.toMatchObject({ name, message: expect.stringMatching(message) });
  });

  test('limits the time of all tasks of a page', async () => {
    const run = vi.fn<MarkupWorkers['run']>(async () => ({ value: '', time: 2_500 }));
    const markup = createMarkup({ run });
    for (let count = 0; count < 3; count += 1) await markup.balanced(long);
    await expect(markup.balanced(long)).rejects.toMatchObject({
      message: expect.stringMatching(/this page takes longer than 6000 ms/),
    });
    expect(run.mock.calls.map(([, { time }]) => time)).toEqual([3_000, 3_000, 1_000]);
  });
});
