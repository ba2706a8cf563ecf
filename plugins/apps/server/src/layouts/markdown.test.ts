import { describe, expect, test, vi } from 'vitest';
import { WorkerFailure } from '../workers';
import { createMarkdown, doMarkdown, MAX_MARKDOWN } from './markdown';

describe('Markdown becomes safe HTML', () => {
  test.each<[string, string, string]>([
    ['headings and paragraphs', '# A\n\nb *c* **d**', '<h1>A</h1>\n<p>b <em>c</em> <strong>d</strong></p>\n'],
    ['a table', '|a|b|\n|-|:-:|\n|1|2|', '<td style="text-align:center">2</td>'],
    ['a link of the site', '[a](/b "c")', '<a href="/b" title="c">a</a>'],
    ['another link', '[a](https://x.org)', '<a href="https://x.org" rel="nofollow noopener">a</a>'],
    ['an image', '![a](/b.png)', '<img src="/b.png" alt="a" loading="lazy" />'],
    ['code', '```html\n<b>\n```', '<pre><code>&lt;b&gt;\n</code></pre>'],
    ['HTML', '<b onclick=x>y</b>', '<p>&lt;b onclick=x&gt;y&lt;/b&gt;</p>'],
  ])('%s', (_what, text, html) => expect(doMarkdown(text)).toContain(html));

  test.each([
    '<script>alert(1)</script>',
    '[a](javascript:alert(1))',
    '[a](JaVaScRiPt&colon;alert(1))',
    '[a](data:text/html;base64,PHNjcmlwdD4=)',
    '![a](data:image/svg+xml,<svg onload=alert(1)>)',
    '![a](javascript:alert(1))',
    '[a](vbscript:x)',
    '[a](//evil.example)',
    '<img src=x onerror=alert(1)>',
    '[a](https://x.org" onmouseover="alert(1))',
    '![a" onerror="alert(1)](b.png)',
    '<style>*{}</style>',
    '```"><script>alert(1)</script>\nx\n```',
    '<svg><script>alert(1)</script></svg>',
  ])('%s runs nothing', (text) => {
    const html = doMarkdown(text);
    expect(html).not.toMatch(/<(?!\/?(?:p|a|img|pre|code)\b)/);
    // Attributes without their quoted values.
    expect(html.replace(/="[^"]*"/g, '')).not.toMatch(/<[^>]*\son\w/i);
    expect(html).not.toMatch(/(?:href|src)="(?:javascript|data|vbscript|\/\/)/i);
  });
});

describe('Markdown of a worker process', () => {
  const workers = (run: () => Promise<unknown>) => ({ run: vi.fn(run) });

  test('is rendered once for a text', async () => {
    const made = workers(async () => '<p>x</p>');
    const markdown = createMarkdown(made);
    expect([await markdown('x'), await markdown('x'), await markdown(' ')]).toEqual(['<p>x</p>', '<p>x</p>', '']);
    expect(made.run).toHaveBeenCalledTimes(1);
  });

  test('is shown as it was written when it takes too long, or is too long', async () => {
    const made = workers(async () => Promise.reject(new WorkerFailure('time')));
    const markdown = createMarkdown(made);
    expect([await markdown('a\n<b>'), await markdown('a\n<b>')]).toEqual(Array(2).fill('<p>a<br>&lt;b&gt;</p>'));
    expect(made.run).toHaveBeenCalledTimes(1);
    expect(await markdown('*'.repeat(MAX_MARKDOWN + 1))).toMatch(/^<p>\*/);
    expect(made.run).toHaveBeenCalledTimes(1);
  });

  test('is tried again after another failure', async () => {
    const made = workers(async () => Promise.reject(new Error('busy')));
    const markdown = createMarkdown(made);
    await expect(markdown('x')).rejects.toThrow('busy');
    await expect(markdown('x')).rejects.toThrow('busy');
    expect(made.run).toHaveBeenCalledTimes(2);
  });
});
