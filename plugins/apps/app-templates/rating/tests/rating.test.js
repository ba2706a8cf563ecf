import { app, assert, test } from 'strapi-plugin-apps/testing';

const rate = (stars) => app.submit('rate', { stars }, { button: 'rate' });

test('ratings give an average', async () => {
  assert.equal((await app.render('rate')).find('[role=status]').text, 'Not rated yet.');
  await rate(5);
  const page = await rate('4 stars: good');
  assert.equal(page.find('[role=status]').text, '4.5 of 5 stars, 2 ratings.');
  assert.deepEqual((await app.call('rate/rating')).value, { votes: 2, average: 4.5 });
});

test('a rating without stars counts nothing, and says so', async () => {
  const page = await rate(null);
  assert.equal(page.status, 422);
  assert.equal(page.find('[role=alert]').text, 'Please choose a number of stars first.');
  assert.equal(await app.records.count(), 0);
});

test('a rating cannot be set through the JSON interface', async () => {
  assert.equal((await app.request('POST', '', { votes: 1, sum: 5 })).status, 401);
});

test('rated pages are listed', async () => {
  await rate(3);
  assert.match((await app.render('top')).find('li').text, /: 3 of 5 stars$/);
});
