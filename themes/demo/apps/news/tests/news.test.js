import { app, assert, test } from 'strapi-plugin-apps/testing';

const article = (title, options) =>
  app.content.create('api::article.article', { title, slug: title.toLowerCase(), summary: `About ${title}` }, options);

test('the newest articles come first, six at most, without drafts', async () => {
  for (const day of [1, 2, 3, 4, 5, 6, 7]) {
    app.clock.set(`2026-01-0${day}`);
    await article(`Day${day}`);
  }
  await article('Draft', { draft: true });
  const page = await app.render('articles');
  assert.deepEqual(
    page.findAll('h3').map(({ text }) => text),
    ['Day7', 'Day6', 'Day5', 'Day4', 'Day3', 'Day2'],
  );
  assert.match(page.find('h3 a').attributes.href, /\/site\/articles\/day7$/);
});

test('a site without articles says so', async () => {
  assert.match((await app.render('articles')).text, /Nothing has been published yet/);
});
