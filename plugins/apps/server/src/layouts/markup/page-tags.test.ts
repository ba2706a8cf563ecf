import { expect, test } from 'vitest';
import { pageTags } from './page-tags';

const script = '<script src="/site/@@apps.js?v=1" defer></script>';
const canonical = '<link href=x rel="alternate CANONICAL">';
const page = (head: string, body: string) => `<!doctype html><head>${head}</head><body>${body}</body>`;

test.each<[name: string, html: string, hasScript: boolean, hasCanonical: boolean]>([
  ['both in the head', page(script + canonical, 'x'), true, true],
  ['a script in the body', page('', script), true, false],
  ['a script that comes late', page('', 'long '.repeat(50_000) + script), true, false],
  ['a canonical address in the body', page('', canonical), false, false],
  [
    'words',
    page('', '<p>use rel="canonical" and src="/site/@@apps.js" &lt;script src="/@@apps.js"&gt;</p>'),
    false,
    false,
  ],
  ['comments', page(`<!-- ${canonical}${script} -->`, `<!-- ${script} -->`), false, false],
  [
    'texts',
    page(`<title>${canonical}</title><style>${script}</style>`, `<textarea>${script}</textarea>`),
    false,
    false,
  ],
  ['a script that names it', page(`<script>'${canonical}</head>'</script>`, ''), false, false],
  ['templates', page(`<template>${script}${canonical}</template>`, ''), false, false],
  ['an attribute', page('', `<a title='${script}' data-x='rel="canonical"'>x</a>`), false, false],
  [
    'another script',
    page('<script src="/x/@@apps.js/other"></script><script data-src="/@@apps.js"></script>', ''),
    false,
    false,
  ],
  ['no page', '', false, false],
  [
    'too many attributes',
    page('', `<p ${Array.from({ length: 2_000 }, (_, n) => `a${n}`).join(' ')}>${script}`),
    false,
    false,
  ],
])('%s', async (_name, html, hasScript, hasCanonical) => {
  expect(await pageTags(html, '/@@apps.js')).toMatchObject({ hasScript, hasCanonical });
});

test.each([
  ['</head>', '<head><title></head></title></head><body>', '<head><title></head></title>'],
  ['<body>', '<head><title>x</title><body></head>', '<head><title>x</title>'],
  ['line breaks of Windows', '<head>\r\n<title>\r\n</title>\r\n</head>', '<head>\r\n<title>\r\n</title>\r\n'],
  ['a long head', `<head>${'<meta a>'.repeat(20_000)}</head>`, `<head>${'<meta a>'.repeat(20_000)}`],
])('the head ends at %s', async (_name, html, head) => {
  expect((await pageTags(html, '/@@apps.js')).headEnd).toBe(head.length);
});
