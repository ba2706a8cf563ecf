import type { Attack, AttackArena } from './attack';

/** The block of an attack stands in the portal's page, by the query `b`. */
const portal =
  '{% assign block = "attack/blocks/" | append: context.request.query.b %}<p>before</p>{% block block %}<p>after</p>';
const html = { accept: 'text/html' };
const page = [{ method: 'GET', path: '/site/?b={id}', headers: html }];

/** The page shows the whole block or an error mark, and in both cases the text around it. */
const outcomes = {
  shown: /before<\/p><form [\s\S]*<\/form><p>after<\/p><\/main><\/body>/,
  refused: /before<\/p><span class="apps-error"[\s\S]*could not be shown[\s\S]*<\/span><p>after<\/p><\/main><\/body>/,
  either: /before<\/p><(form|span) [\s\S]*<\/(form|span)><p>after<\/p><\/main><\/body>/,
};
type Outcome = keyof typeof outcomes;

/** JavaScript of a text of `count` pieces; `#` in a piece is a number. */
const many = (count: number, piece: string) => {
  const text = JSON.stringify(piece);
  return piece.includes('#')
    ? `Array.from({ length: ${count} }, (_, n) => ${text}.replaceAll('#', n)).join('')`
    : `${text}.repeat(${count})`;
};

/** Logic that returns HTML; the layout shows it `times` times. */
const embedded = (name: string, outcome: Outcome, expression: string, times = 1): Attack => ({
  name: `markup-${name}`,
  block: { js: `export const f = () => ${expression};\n`, html: '{f}'.repeat(times) },
  files: { 'templates/portal.html': portal },
  requests: page,
  status: 200,
  has: outcomes[outcome],
  within: 6_000,
});

/** Attacks that are part of `npm test`. */
const short = new Set(['markup-formatting', 'markup-depth', 'markup-attributes', 'markup-content-formatting']);

/** HTML that logic returns. The first four were seen to stop a server. */
const blocks: readonly Attack[] = [
  embedded('formatting', 'refused', `'<div>' + ${many(4_000, '<b i#>')} + ${many(4_000, '<div>x</div>')}`),
  embedded('depth', 'refused', many(150_000, '<div>')),
  embedded('attributes', 'refused', `'<p ' + ${many(120_000, 'a# ')} + '>'`),
  embedded('paragraphs', 'refused', many(349_000, '<p>'), 14),
  embedded('paragraphs-once', 'refused', many(349_000, '<p>')),
  embedded('font', 'either', many(40_000, '<p><font a#>')),
  embedded('links', 'either', many(60_000, '<a><div>')),
  embedded('adoption', 'either', `${many(2_000, '<b>')} + ${many(500, '<div>')} + ${many(150_000, '</b>')}`),
  embedded('adoption-in-turn', 'either', many(25_000, '<b><i><div></b>x</i>')),
  embedded('foster', 'either', `'<table>' + ${many(150_000, '<a>x')}`),
  embedded('foster-divs', 'either', `'<table>' + ${many(150_000, 'x<hr>')}`),
  embedded('foster-text', 'either', `${many(1_000, '<table>')} + ${many(400_000, ' x')}`),
  embedded('tables', 'refused', many(60_000, '<table><tr><td>')),
  embedded('lists', 'refused', many(90_000, '<ul><li>')),
  embedded('closed-lists', 'refused', `${many(2_900, '<ul><li>')} + ${many(150_000, '</dd>')}`),
  embedded('descriptions', 'either', `${many(1_400, '<dl><dt>')} + ${many(100_000, '</p>')}`),
  embedded('headings', 'either', many(100_000, '<h1><h2>')),
  embedded('buttons', 'either', many(100_000, '<button>')),
  embedded('nobr', 'either', many(100_000, '<nobr>')),
  embedded('ruby', 'refused', many(80_000, '<ruby><rt>')),
  embedded('svg', 'refused', many(150_000, '<svg>')),
  embedded('foreign', 'refused', many(40_000, '<svg><foreignObject>')),
  embedded('templates', 'refused', many(80_000, '<template>')),
  embedded('selects', 'either', many(60_000, '<select><option>')),
  embedded('markers', 'refused', many(40_000, '<object><b a#>')),
  embedded('custom', 'refused', many(80_000, '<x-#>')),
  embedded('forms', 'refused', many(80_000, '<form><div>')),
  embedded('end-tags', 'either', many(180_000, '</p>')),
  embedded('same-attribute', 'shown', `'<p ' + ${many(250_000, 'a=1 ')} + '>'`),
  embedded('long-attribute', 'refused', `'<p><b a="' + 'x'.repeat(500000) + '">' + ${many(20_000, '</p><p>x')}`),
  embedded('comments', 'either', many(150_000, '<!-->')),
  embedded('open-comments', 'shown', many(250_000, '<!--')),
  embedded('references', 'shown', many(120_000, '&notit;')),
  embedded('ampersands', 'shown', many(1_000_000, '&')),
  embedded('null-characters', 'either', many(500_000, '\\0 ').replace('\\\\', '\\')),
  embedded('open-tags', 'shown', many(1_000_000, '<')),
  embedded('quotes', 'shown', many(300_000, '<a "')),
  embedded('scripts', 'shown', many(100_000, '<script><!--')),
  embedded('bodies', 'shown', many(100_000, '<body a#>')),
];

const note = {
  'apps/healthy/blocks/note.html': 'NOTE',
  'rules.yaml': '- { append: main, include: /@@apps/healthy/blocks/note }\n',
};

/** An article whose body is raw in the page, to which a rule applies. */
const article = (name: string, applied: boolean, body: string): Attack => ({
  name: `markup-content-${name}`,
  files: note,
  prepare: ({ host }) => publish(host, `markup-${name}`, body),
  requests: [{ method: 'GET', path: `/site/articles/markup-${name}`, headers: html }],
  status: 200,
  has: applied ? /<article>[\s\S]*NOTE[\s\S]*<\/body>/ : /^(?![\s\S]*NOTE)[\s\S]*<article>[\s\S]*<\/main><\/body>/,
  within: 6_000,
});

function publish(host: AttackArena['host'], slug: string, body: string): Promise<void> {
  return host.run(
    async (strapi, slug, body) => {
      const articles = strapi.documents('api::article.article');
      const old = await articles.findFirst({ filters: { slug } });
      if (old) await articles.delete({ documentId: old.documentId });
      await articles.create({ data: { title: 'A', slug, body }, status: 'published' });
    },
    slug,
    body,
  );
}

const lines = (count: number, piece: string) =>
  Array.from({ length: count }, (_, n) => piece.replaceAll('#', String(n))).join('');

/** HTML that an editor writes. The first was seen to stop a server, which took 3.6 GB. */
const contents: readonly Attack[] = [
  article('formatting', false, `<div>${lines(4_000, '<b i#>')}${lines(1_800, '<div>x</div>')}`),
  article('depth', false, '<div>'.repeat(10_000)),
  article('bodies', false, lines(5_000, '<body a#>')),
  article('paragraphs', true, '<p>x'.repeat(15_000)),
  article('megabytes', true, `<p>${'Lorem ipsum dolor sit amet. '.repeat(30)}</p>\n`.repeat(3_000)),
  article('too-many', false, '<p>x'.repeat(500_000)),
];

/** A page of many elements, which a rule's selector is looked for in. */
const selector = (name: string, applied: boolean, css: string, shape = '<p class="aaaaaaaaaaaa">x</p>'): Attack => ({
  name: `markup-selector-${name}`,
  files: {
    ...note,
    'templates/portal.html': `{% for n in (1..2000) %}${shape}{% endfor %}`,
    'rules.yaml': `- { append: main, if_content: ${JSON.stringify(css)}, include: /@@apps/healthy/blocks/note }\n`,
  },
  requests: [{ method: 'GET', path: '/site/', headers: html }],
  status: 200,
  has: applied ? /NOTE<\/form><\/main>/ : /^(?![\s\S]*NOTE)[\s\S]*<\/main><\/body>/,
  within: 6_000,
});

const selectors: readonly Attack[] = [
  selector('siblings', false, 'x ~ p ~ p ~ p ~ p'),
  selector('has', false, ':has(~ p:has(~ p:has(~ x)))'),
  selector(
    'nth',
    false,
    'p:nth-last-of-type(n+9999):nth-child(n+3), p:nth-last-child(n+9999) ~ x',
    '<p></p>'.repeat(10),
  ),
  selector('contains', false, 'main:contains("aaaaaaaab"):has(:contains("aaab")) x', `${'a'.repeat(50)}<i></i>`),
  selector(
    'attribute',
    false,
    `[class*="${'a'.repeat(400)}b${'a'.repeat(400)}" i]`,
    `<p class="${'a'.repeat(900)}"></p>`,
  ),
  selector('alternatives', true, `:is(${'x,'.repeat(300)}p)`),
  selector('nested', false, `${'p:not('.repeat(60)}x ~ p ~ p ~ p${')'.repeat(60)}`),
];

/** Files of a theme that make a page much larger than they are. */
const growth: readonly Attack[] = [
  {
    name: 'markup-growth-rules',
    files: {
      'apps/healthy/blocks/note.html': 'NOTE'.repeat(50_000),
      'templates/portal.html': '{% for n in (1..2000) %}<p>x</p>{% endfor %}',
      'rules.yaml': '- { before: p, include: /@@apps/healthy/blocks/note }\n',
    },
    requests: [{ method: 'GET', path: '/site/', headers: html }],
    status: 200,
    has: /^(?![\s\S]*NOTE)[\s\S]*<\/main><\/body>/,
  },
  {
    name: 'markup-growth-blocks',
    files: {
      'apps/healthy/blocks/note.html': 'NOTE'.repeat(50_000),
      'templates/portal.html':
        '{% capture c %}{% block "healthy/blocks/note" %}{% endcapture %}{% for n in (1..2000) %}{{ c | raw }}{% endfor %}',
    },
    requests: [{ method: 'GET', path: '/site/', headers: html }],
    status: 500,
  },
  {
    name: 'markup-many-rules',
    files: {
      ...note,
      'templates/portal.html': '{% for n in (1..4000) %}<p class="n{{ n }}">x</p>{% endfor %}',
      'rules.yaml': lines(200, '- { append: .n#, include: /@@apps/healthy/blocks/note, select: ".apps-block" }\n'),
    },
    requests: [{ method: 'GET', path: '/site/', headers: html }],
    status: 200,
    has: /<\/main><\/body>/,
    within: 8_000,
  },
];

export const markup: readonly Attack[] = [...blocks, ...contents, ...selectors, ...growth].map((attack) =>
  short.has(attack.name) ? { ...attack, short: true } : attack,
);
