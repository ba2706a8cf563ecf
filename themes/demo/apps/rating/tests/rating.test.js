import { app, assert, beforeEach, describe, test } from 'strapi-plugin-apps/testing';

const ARTICLE = 'api::article.article';

let news;
beforeEach(async () => {
  news = await app.content.create(ARTICLE, { title: 'News', slug: 'news' });
});

test('a like counts for the page on which the button stands', async () => {
  const page = await app.render('rate', { content: news });
  assert.equal(page.find('[role=status]').text, '0 likes');
  assert.equal(page.find('button').text, 'Like');

  const liked = await app.submit('rate', {}, { content: news, button: 'like' });
  assert.equal(liked.find('[role=status]').text, '1 like');
  assert.deepEqual((await app.records.get('/articles/news')).items, { id: '/articles/news', total: 1 });
});

test('likes of several visitors add up', async () => {
  for (const visitor of [app, app.as({ user: 'rita', groups: ['readers'] }), app.as('anonymous')])
    await visitor.submit('rate', {}, { content: news, button: 'like' });
  const { value } = await app.call('rate/likes', { content: news });
  assert.deepEqual(value, { total: 3, text: '3 likes' });
});

test('nobody sets the number of likes through the JSON interface', async () => {
  const { status, error } = await app.request('PUT', 'record//articles/news', { total: 99 });
  assert.equal(status, 401);
  assert.equal(error.name, 'UnauthorizedError');
  assert.equal(await app.records.count(), 0);
});

describe('the most liked pages', () => {
  test('come in the order of their likes, whose pages exist', async () => {
    await app.content.create(ARTICLE, { title: 'Welcome', slug: 'welcome' });
    await app.records.create({ total: 2 }, { id: '/articles/news' });
    await app.records.create({ total: 5 }, { id: '/articles/welcome' });
    await app.records.create({ total: 9 }, { id: '/articles/deleted' });
    for (const block of ['top', 'most-liked']) {
      const page = await app.render(block);
      assert.deepEqual(
        page.findAll('.rating-top li').map((item) => item.text),
        ['Welcome 5', 'News 2'],
      );
      assert.match(page.find('.rating-top a').attributes.href, /\/site\/articles\/welcome$/);
    }
  });

  test('say so when there are none', async () => {
    const page = await app.open('@@most-liked');
    assert.equal(page.status, 200);
    assert.match(page.text, /Nobody has liked a page yet/);
  });
});
