import { app, assert, test } from 'strapi-plugin-apps/testing';

const manager = app.as({ user: 'mona', groups: ['managers'], permissions: ['plugin::apps.app.manage'] });
const answer = { frequency: 'Every day', score: 8 };

test('an answer is stored, and its sender is thanked', async () => {
  const page = await app.submit('survey', { ...answer, topics: ['News', 'Events'] });
  assert.equal(page.find('h1').text, 'Thank you!');
  const [{ items }] = await app.records.search();
  assert.equal(items.frequency, 'daily');
  assert.deepEqual(items.topics, ['News', 'Events']);
});

test('a score above ten and a missing answer are refused', async () => {
  const page = await app.submit('survey', { score: 11 });
  assert.equal(page.status, 422);
  assert.deepEqual(Object.keys(page.errors), ['frequency', 'score']);
});

test('a manager sees the results, a visitor does not', async () => {
  for (const score of [8, 10]) await app.submit('survey', { ...answer, score });
  assert.match((await manager.render('results')).text, /2 answers, average score 9/);
  assert.equal((await app.render('results')).status, 401);
});
