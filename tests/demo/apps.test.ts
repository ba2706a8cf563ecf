import { expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useHost } from '../support/hooks';
import { adminToken } from '../support/seed';
import { bearer } from '../support/send';
import { comments } from './apps/comments';
import { contact } from './apps/contact';
import { delivery } from './apps/delivery';
import { german } from './apps/german';
import { glossary } from './apps/glossary';
import { screen, useNeighbours } from './apps/neighbours';
import { rating } from './apps/rating';
import { reading } from './apps/reading';
import { survey } from './apps/survey';

/** Its neighbours listen on a port of their own, which a copy of the themes names. */
const neighbours = useNeighbours();
const host = useHost(() => ({
  themesDirectory: neighbours.themes,
  env: { APPS_DEMO: 'empty', ...configured({ apps: { fetch: neighbours.fetch } }) },
}));

test('no file of its apps is broken', async () => {
  const token = await adminToken(host);
  const response = await fetch(`${host.url}/apps/overview`, { headers: bearer(token) });
  const { sites } = (await response.json()) as {
    sites: { apps: { id: string; problems: number; theme: string }[] }[];
  };
  const apps = sites[0]?.apps.map(({ id, problems, theme }) => ({ id, problems, theme }));
  expect(apps?.sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual([
    { id: 'card', problems: 0, theme: 'demo' },
    { id: 'comments', problems: 0, theme: 'demo' },
    { id: 'contact', problems: 0, theme: 'library' },
    { id: 'delivery', problems: 0, theme: 'demo' },
    { id: 'glossary', problems: 0, theme: 'demo' },
    { id: 'news', problems: 0, theme: 'demo' },
    { id: 'poll', problems: 0, theme: 'demo' },
    { id: 'rating', problems: 0, theme: 'demo' },
    { id: 'reading', problems: 0, theme: 'demo' },
    { id: 'survey', problems: 0, theme: 'demo' },
  ]);
});

test.each([
  'demo/assets/theme.css',
  'demo/apps/rating/assets/rating.css',
  'demo/apps/glossary/assets/glossary.css',
  'demo/apps/survey/assets/survey.css',
  'demo/apps/comments/assets/comments.css',
])('%s is served', async (path) => {
  const response = await fetch(`${host.url}/site/@@theme/${path}`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('text/css');
});

test.each([
  '@@theme/demo/apps/rating/tests/rating.test.js',
  '@@apps/rating/tests/rating.test.js',
  '@@apps/rating/blocks/rating.test',
])('the tests of an app are not served as %s', async (path) => {
  expect((await fetch(`${host.url}/site/${path}`)).status).toBe(404);
});

rating(host);
glossary(host);
survey(host);
comments(host);
contact(host);
screen(host, neighbours);
delivery(host);
reading(host);
german(host);
