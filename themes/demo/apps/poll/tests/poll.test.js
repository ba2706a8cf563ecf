import { app, assert, test } from 'strapi-plugin-apps/testing';

const votes = async (visitor) => (await visitor.call('vote/result')).value.map((row) => row.votes);

test('each visitor has one vote, without a login', async () => {
  const page = await app.submit('vote', { evening: 'Friday' }, { button: 'vote' });
  assert.match(page.text, /your vote is counted/);
  assert.equal(page.find('[name=evening]'), null);
  assert.deepEqual(await votes(app), [0, 0, 1]);
  assert.equal((await app.records.search())[0].items.evening, 'friday');
});

test('a vote without a choice is refused', async () => {
  const page = await app.submit('vote', {}, { button: 'vote' });
  assert.equal(page.status, 422);
  assert.deepEqual(Object.keys(page.errors), ['evening']);
  assert.equal(await app.records.count(), 0);
});

test('a program without a cookie does not vote', async () => {
  await app.call('vote/vote', { body: { evening: 'friday' } });
  assert.equal(await app.records.count(), 0);
});
