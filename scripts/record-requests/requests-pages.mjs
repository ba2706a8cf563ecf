/** Pages, forms, the site, errors of broken files, and the panel's own interface. Rows as in requests-json.mjs. */
import { brokenNames } from './broken-blocks.mjs';

const page = { accept: 'text/html' };
const fragment = { accept: 'text/html', headers: { 'x-requested-with': 'XMLHttpRequest' } };
const posted = (form, more = {}) => ({ accept: 'text/html', form, ...more });

const blocks = [
  ...['note', 'all', 'counted', 'values', 'absent'].map((name) => [`GET notes/blocks/${name}`, page]),
  ['GET notes/blocks/note', fragment],
  ['HEAD notes/blocks/note', page],
  ['PUT notes/blocks/note', page],
  ['GET python/blocks/main', page],
  ['GET typed/blocks/main', page],
  ['GET debugged/blocks/talk', page],
  ['POST debugged/blocks/talk', posted({ 'action.go': '' })],
  ['GET rights/blocks/form', page],
  ['GET rights/blocks/editors', page],
  ['GET rights/blocks/editors', { ...page, as: 'anna' }],
  ['GET rights/blocks/editors', { ...page, as: 'una' }],
  ['GET closed/blocks/form', page],
  ['POST closed/blocks/form', posted({ _save: '' })],
  ['GET lent/blocks/hello', page],
  ['GET lost/blocks/hello', page],
  ['GET circle/blocks/hello', page],
  ['GET badsettings/blocks/hello', page],
  ['GET badsettings/blocks/hello', { ...page, as: 'mona' }],
  ['GET badsettings', { as: 'mona' }],
  ...['hello', 'hello?who=%3Cyou%3E', 'where', 'themed', 'bare', 'moved', 'moved?stay=1', 'nested'].map((name) => [
    `GET blocks/blocks/${name}`,
    page,
  ]),
  ['GET /site/articles/first/@@apps/blocks/blocks/where', page],
  ['GET /@@apps/blocks/blocks/where', page],
];

const valid = { text: 'abc', number: '3', radio: '1', date: '2021-02-03', boxes: ['p', 'q'], many: ['x', 'z'] };

const forms = [
  ['POST notes/blocks/note', posted({ title: 'A <form>', total: '4', _save: '' }, { keepRecord: 'formed' })],
  ['GET notes/record/{{formed}}', page],
  ['GET notes/record/{{formed}}/edit', page],
  ['GET notes/record/{{formed}}/edit', fragment],
  ['POST notes/record/{{formed}}', posted({ _edit: '' })],
  ['POST notes/record/{{formed}}', posted({ title: '', total: '11', _save: '' })],
  ['POST notes/record/{{formed}}', posted({ title: 'changed', total: '', _save: '' })],
  ['GET notes/record/{{formed}}'],
  ['POST notes/record/{{formed}}', posted({ _delete: '' })],
  ['GET notes/record/{{formed}}', page],
  ['POST notes/blocks/note', posted({ title: '', total: '1.5', _save: '' })],
  ['POST notes/blocks/note', { form: { title: '', total: 'x', _save: '' } }],
  ['POST notes/blocks/note', posted({ title: 'x', _save: '' }, { csrf: false })],
  ['POST notes/blocks/note', posted({ title: 'x', _save: '' }, { ...fragment, csrf: true })],
  [
    'POST notes/blocks/all',
    posted({ ...valid, email: 'a@b.example', url: 'https://a.example', select: 'b', _save: '' }),
  ],
  [
    'POST notes/blocks/all',
    posted({ text: 'A1', area: 'x'.repeat(11), email: 'no', url: 'no', number: '4', _save: '' }),
  ],
  [
    'POST notes/blocks/all',
    posted({ date: '2019-01-01', datetime: 'x', select: 'c', radio: '3', boxes: 'r', _save: '' }),
  ],
  ['POST notes/blocks/values', posted({ 'action.press': '' })],
  ['POST notes/blocks/values', posted({ 'action.away': '' })],
  ['POST notes/blocks/values', posted({ 'action.helper': '' })],
  ['POST blocks/blocks/bare', posted({ 'action.go': '' })],
  ['POST python/blocks/main', posted({ name: 'x', _save: '' }, { keepRecord: 'py' })],
  ['GET python/record/{{py}}'],
  ['POST notes/blocks/note', { accept: 'text/html', body: '<x/>', headers: { 'content-type': 'text/xml' } }],
  ['POST notes/record/absent', posted({ _save: '' })],
  ['GET notes/record/chosen', page],
  ['GET notes/record/block', page],
  ['GET notes/record/absent', page],
  ['GET notes/record/absent/edit', page],
  ['GET rights/record/of-eric', page],
  ['GET rights/record/of-eric', { ...page, as: 'rita' }],
];

const broken = brokenNames.flatMap((name) => [
  [`GET broken/blocks/${name}`, page],
  [`GET broken/blocks/${name}`, { ...page, as: 'mona' }],
  [`GET broken/blocks/${name}/value`],
  [`GET broken/blocks/${name}/value`, { as: 'mona' }],
]);

const site = [
  ['GET /site', page],
  ['GET /site/', page],
  ['GET /site/', { ...page, as: 'mona' }],
  ['HEAD /site/', page],
  ['POST /site/', posted({})],
  ['GET /site/articles/first', page],
  ['GET /site/articles/second', page],
  ['GET /site/articles/absent', page],
  ['GET /site/articles/first', { accept: 'application/json' }],
  ['GET /site/nosuch/path', page],
  ['GET /nosite/', page],
  ['GET /nosite/@@apps/notes'],
  ['GET /site/@@apps/nosuch'],
  ['GET /site/@@apps/nosuch', page],
  ['GET /site/@@apps/__proto__'],
  ['GET /site/@@apps/notes/nosuch'],
  ['GET /site/@@apps/notes/nosuch', page],
  ['GET /site/@@themed', page],
  ['POST /site/@@themed', posted({ name: '', _save: '' })],
  ['GET /site/articles/first/@@themed', page],
  ['GET /site/@@bare', page],
  ['GET /site/@@nosuchview', page],
  ['GET /site/@@theme/recorded/assets/site.css'],
  ['HEAD /site/@@theme/recorded/assets/site.css'],
  ['POST /site/@@theme/recorded/assets/site.css', posted({})],
  ['GET /site/@@theme/recorded/assets/data.json'],
  ['GET /site/@@theme/recorded/assets/absent.css'],
  ['GET /site/@@theme/recorded/assets/../private.txt'],
  ['GET /site/@@theme/recorded/assets/%2e%2e/private.txt'],
  ['GET /site/@@theme/recorded/private.txt'],
  ['GET /site/@@theme/recorded/apps/notes/assets/app.js'],
  ['GET /site/@@theme/recorded/apps/notes/lib/hidden.js'],
  ['GET /site/@@theme/nosuch/assets/site.css'],
  ['HEAD /site/@@apps.js'],
  ['GET /site/@@nosuch.js'],
];

const login = [
  ['GET /site/@@login', { ...page, jar: 'first' }],
  ['POST /site/@@login', posted({ username: 'anna', password: 'wrong', _csrf: '{{csrf}}' }, { jar: 'first' })],
  ['POST /site/@@login', posted({ username: 'anna', password: 'Secret-anna-1', _csrf: 'wrong' }, { jar: 'first' })],
  ['GET /site/@@login?next=/site/@@apps/rights/blocks/form', { ...page, jar: 'first' }],
  [
    'POST /site/@@login',
    posted(
      { username: 'anna', password: 'Secret-anna-1', _csrf: '{{csrf}}', next: '/site/@@themed' },
      { jar: 'first' },
    ),
  ],
  ['GET /site/', { ...page, jar: 'first' }],
  ['GET rights/blocks/form/who', { jar: 'first' }],
  ['GET rights/blocks/form', { ...page, jar: 'first' }],
  ['POST rights/blocks/form', posted({ name: 'by cookie', _save: '', _csrf: '{{csrf}}' }, { jar: 'first' })],
  ['POST rights/blocks/form', posted({ name: 'by cookie', _save: '' }, { jar: 'first' })],
  ['GET /site/@@logout', { ...page, jar: 'first' }],
  ['POST /site/@@logout', posted({ _csrf: '{{csrf}}' }, { jar: 'first' })],
  ['GET rights/blocks/form/who', { jar: 'first' }],
  ['GET /site/@@login?next=https://evil.example/', { ...page, jar: 'second' }],
  ['PUT /site/@@login', { ...page, json: {} }],
];

const panel = [
  ['GET /apps/overview'],
  ['GET /apps/overview', { as: 'root' }],
  ['GET /apps/blocks', { as: 'root' }],
  ['GET /apps/sites/site/apps/notes', { as: 'root' }],
  ['GET /apps/sites/site/apps/broken', { as: 'root' }],
  ['GET /apps/sites/site/apps/badsettings', { as: 'root' }],
  ['GET /apps/sites/site/apps/nosuch', { as: 'root' }],
  ['GET /apps/sites/site/apps/notes/records?limit=2', { as: 'root' }],
  ['GET /apps/sites/site/apps/notes/records?query=total+%3D+1', { as: 'root' }],
  ['GET /apps/rules', { as: 'root' }],
  ['POST /apps/rules', { as: 'root', json: { name: 'x' } }],
];

const slow = [['GET slow/blocks/loops', page], ['GET slow/blocks/loops/value']];

export const pageRequests = [...blocks, ...forms, ...broken, ...slow, ...site, ...login, ...panel];

/** The demo as a visitor sees it first. */
export const demoRequests = [
  ...['/', '/about', '/articles/welcome', '/@@glossary', '/@@survey', '/@@most-liked', '/@@login', '/nothing'].map(
    (path) => [`GET /site${path}`, page],
  ),
  ['GET rating'],
  ['GET /site/articles/welcome/@@apps/rating/blocks/rate', page],
  ['POST /site/articles/welcome/@@apps/rating/blocks/rate/like', { json: {} }],
  ['POST /site/articles/welcome/@@apps/rating/blocks/rate', posted({ 'action.like': '' })],
  ['GET rating/records'],
  ['GET rating/blocks/top', page],
  ['PATCH rating/record//articles/welcome', { json: { total: 5 } }],
  ['POST glossary/records', { as: 'anna', json: [{ block: 'term', term: 'Café', meaning: 'Where editors meet.' }] }],
  [
    'POST glossary/blocks/term',
    posted({ term: 'Record', meaning: 'Stored', topics: 'Apps', _save: '' }, { as: 'anna' }),
  ],
  ['POST glossary/search', { json: { query: 'wanted in words', names: { wanted: 'CAFE' }, sort_index: 'sort_key' } }],
  ['GET /site/@@glossary?q=editors', page],
  ['POST /site/@@glossary', posted({ q: 'rec*', topic: 'Apps', 'action.find': '' })],
  ['GET glossary/record/cafe', { ...page, as: 'anna' }],
  ['POST survey/blocks/questions', posted({ name: 'A', score: '11', _save: '' })],
  ['POST survey/blocks/questions', posted({ name: 'Ann', frequency: 'daily', score: '9', topics: 'News', _save: '' })],
  ['GET survey/blocks/results', page],
  ['GET survey/blocks/results', { ...page, as: 'rita' }],
  ['POST /site/articles/welcome/@@apps/comments/blocks/comment', posted({ text: 'Nice', _save: '' }, { as: 'sam' })],
  ['GET comments/blocks/moderate', { ...page, as: 'eric' }],
  ['GET comments/records', { as: 'sam' }],
  ['GET contact/blocks/message', page],
  ['GET /site/articles/welcome', { ...page, as: 'eric' }],
  ['GET /site/@@theme/demo/apps/glossary/assets/glossary.css'],
];
