import { app, assert, describe, test } from 'strapi-plugin-apps/testing';

const rita = app.as({ user: 'rita', groups: ['readers'] });
const answer = { name: 'Nora', frequency: 'Once a week', score: 9 };

test('an answer is stored with its verdict and its time', async () => {
  app.clock.set('2026-01-01T12:00:00Z');
  const page = await app.submit('questions', {
    ...answer,
    topics: ['News', 'Interviews'],
    email: 'nora@example.org',
    newsletter: true,
  });
  assert.match(page.redirect, /\/blocks\/thanks$/);
  assert.equal(page.find('h1').text, 'Thank you!');
  const [{ items }] = await app.records.search();
  assert.equal(items.verdict, 'fan');
  assert.equal(items.answered_at, '2026-01-01T12:00:00.000Z');
  assert.equal(items.frequency, 'weekly');
  assert.deepEqual(items.topics, ['News', 'Interviews']);
  assert.equal(items.newsletter, true);
  assert.equal(items.source, 'site');
});

test('a form remembers where the visitor comes from', async () => {
  await app.submit('questions', answer, { query: { from: 'newsletter' } });
  assert.equal(await app.records.count("source == 'newsletter'").catch(() => null), null, 'it has no index');
  assert.equal((await app.records.search())[0].items.source, 'newsletter');
});

for (const [field, wrong] of Object.entries({
  name: 'N',
  number: 'abc',
  score: 11,
  email: 'nora',
  since: '1999-12-31',
})) {
  test(`a wrong ${field} is refused, beside its field`, async () => {
    const page = await app.submit('questions', { ...answer, [field]: wrong });
    assert.equal(page.status, 422);
    assert.deepEqual(Object.keys(page.errors), [field]);
    assert.equal(page.find(`[name=${field}]`).value, String(wrong));
    assert.equal(await app.records.count(), 0);
  });
}

test('the favourite article is one that the visitor may read', async () => {
  await app.content.create('api::article.article', { title: 'Published', slug: 'published' });
  await app.content.create('api::article.article', { title: 'Draft', slug: 'draft' }, { draft: true });
  const page = await app.render('questions');
  assert.deepEqual(
    page.findAll('[name=favourite] option').map(({ text }) => text),
    ['Please choose', 'Published'],
  );
  await page.submit({ ...answer, favourite: 'published' });
  assert.equal((await app.records.search())[0].items.favourite, 'published');
});

test('the button "Start over" stores nothing', async () => {
  const page = await app.submit('questions', answer, { button: 'start_over' });
  assert.match(page.redirect, /\/blocks\/questions$/);
  assert.equal(page.find('[name=name]').value, '');
  assert.equal(await app.records.count(), 0);
});

describe('in steps', () => {
  const step = (page) => page.find('[aria-current=step]').text;

  test('it leads from page to page, and stores the same answer', async () => {
    const first = await app.render('steps', { query: { from: 'mail' } });
    assert.equal(step(first), 'You and us');
    const refused = await first.submit({ name: 'N', frequency: 'Once a week' }, { button: '_next' });
    assert.deepEqual([refused.status, Object.keys(refused.errors)], [422, ['name']]);
    const reading = await refused.submit({ name: 'Nora' }, { button: '_next' });
    assert.equal(step(reading), 'What you read');
    const last = await reading.submit({ score: 9, topics: ['News'] }, { button: '_next' });
    assert.equal(step(last), 'Before you go');
    assert.equal(await app.records.count(), 0);
    const page = await last.submit({ comment: 'Go on!' });
    assert.match(page.redirect, /\/blocks\/thanks$/);
    const [{ items }] = await app.records.search();
    assert.equal(items.block, 'answer');
    assert.deepEqual(
      [items.name, items.frequency, items.score, items.topics, items.verdict, items.source],
      ['Nora', 'weekly', 9, ['News'], 'fan', 'mail'],
    );
  });

  test('an address is needed for the newsletter alone', async () => {
    const first = await app.submit('steps', { name: 'Nora', frequency: 'weekly' }, { button: '_next' });
    const last = await first.submit({ score: 9 }, { button: '_next' });
    const page = await last.submit({ newsletter: true });
    assert.equal(step(page), 'Before you go');
    assert.deepEqual(Object.keys(page.errors), ['email']);
    assert.match((await page.submit({ newsletter: false })).redirect, /\/blocks\/thanks$/);
  });
});

describe('the results', () => {
  test('are counted', async () => {
    for (const score of [10, 9, 7, 2]) await app.submit('questions', { ...answer, score });
    const { value } = await rita.call('results/summary');
    assert.deepEqual(value, { answers: 4, average: 7, balance: 25 });
    const page = await rita.render('results');
    assert.match(page.find('.survey-figures').text, /4 answers so far 7 average score/);
    assert.equal(page.findAll('.survey-table tr')[1].text, 'Once a week 4 100 %');
  });

  test('are for readers and editors only', async () => {
    assert.equal((await app.render('results')).status, 401);
    assert.equal((await app.as({ user: 'sam', groups: ['submitters'] }).render('results')).status, 403);
    assert.equal((await app.request('GET', 'records')).status, 401);
  });

  test('lead to an answer, which only an editor may delete', async () => {
    await app.submit('questions', answer);
    const [{ id }] = await app.records.search();
    assert.equal((await rita.record(id)).find('[name=_delete]'), null);
    const page = await app.as({ user: 'eric', groups: ['editors'] }).record(id);
    assert.match((await page.submit({}, { button: '_delete' })).redirect, /\/blocks\/results$/);
    assert.equal(await app.records.count(), 0);
  });
});
