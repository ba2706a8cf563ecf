import { app, assert, test } from 'strapi-plugin-apps/testing';
import { answers } from '../lib/question';

const [first, second] = answers;
const vote = (visitor, answer) => visitor.submit('poll', { answer }, { button: 'vote' });

test('votes are counted', async () => {
  await vote(app, first.value);
  await vote(app.as({ user: 'una' }), first.value);
  const page = await vote(app.as({ user: 'otto' }), second.value);
  assert.equal(page.find('[role=status]').text, 'Thank you for your vote.');
  assert.equal(page.find('strong').text, '3 votes');
  const { value } = await app.call('poll/results');
  assert.deepEqual(
    value.rows.slice(0, 2).map(({ label, percent }) => [label, percent]),
    [
      [first.label, 67],
      [second.label, 33],
    ],
  );
});

test('a user has one vote', async () => {
  const una = app.as({ user: 'una' });
  await vote(una, first.value);
  assert.equal((await una.render('poll')).find('[name=answer]'), null);
  await assert.rejects(vote(una, second.value), /has no field "answer"/);
  assert.equal((await app.call('poll/results')).value.total, 1);
});

test('a vote without an answer counts nothing, and says so', async () => {
  const page = await vote(app, null);
  assert.equal(page.status, 422);
  assert.equal(page.find('[role=alert]').text, 'Please choose an answer first.');
  assert.equal(await app.records.count(), 0);
});
