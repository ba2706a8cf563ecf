import { app, assert, beforeEach, describe, test } from 'strapi-plugin-apps/testing';
import { slug } from '../lib/slug';

const anna = app.as({ user: 'anna', groups: ['authors'] });
const eric = app.as({ user: 'eric', groups: ['editors'] });

test('an address is made of plain letters', () => {
  assert.equal(slug('Café au lait!'), 'cafe-au-lait');
  assert.equal(slug('…'), 'term');
});

test('an author adds a term, at an address that can be guessed', async () => {
  const page = await anna.submit('term', { term: 'Block', meaning: 'A part of an app.', topics: ['Apps', 'Web'] });
  assert.match(page.redirect ?? '', /\/record\/block$/);
  assert.equal(page.find('h1')?.text, 'Block');
  const record = await app.records.get('block');
  assert.deepEqual(record?.items.topics, ['Apps', 'Web']);
  assert.equal(record?.items.added_by, 'anna');
  assert.equal(record?.items.sort_key, 'block');
});

test('a second term of the same name gets an address of its own', async () => {
  for (const meaning of ['One', 'Two']) await anna.submit('term', { term: 'Block', meaning });
  assert.deepEqual(
    (await app.records.search()).map(({ id }) => id),
    ['block', 'block-1'],
  );
});

test('a term without a meaning is shown again with what was entered', async () => {
  const page = await anna.submit('term', { term: 'Block' });
  assert.equal(page.status, 422);
  assert.match(page.errors.meaning ?? '', /./);
  assert.equal(page.find('[name=term]')?.value, 'Block');
  assert.equal(await app.records.count(), 0);
});

test('a visitor who may not add terms is sent to the list', async () => {
  const page = await app.render('term');
  assert.match(page.redirect ?? '', /\/blocks\/list$/);
});

describe('a term', () => {
  beforeEach(async () => {
    await app.records.create(
      {
        block: 'term',
        term: 'Cache',
        meaning: 'Kept answers',
        topics: ['Web'],
        sort_key: 'cache',
        words: 'Cache',
        added_by: 'anna',
      },
      { id: 'cache', creator: { user: 'anna', groups: ['authors'] } },
    );
  });

  test('is changed by its author, not by another', async () => {
    const form = await anna.record('cache', { edit: true });
    assert.equal((await form.submit({ meaning: 'Answers that are kept' })).find('h1')?.text, 'Cache');
    assert.equal((await app.records.get('cache'))?.items.words, 'Cache Answers that are kept');

    const other = app.as({ user: 'alan', groups: ['authors'] });
    assert.equal((await other.record('cache')).find('button'), null);
    assert.equal((await other.request('PATCH', 'record/cache', { meaning: '' })).status, 403);
  });

  test('is deleted by an editor, who then sees the list', async () => {
    const page = await eric.record('cache');
    const after = await page.submit({}, { button: '_delete' });
    assert.match(after.redirect ?? '', /\/blocks\/list$/);
    assert.equal(await app.records.count(), 0);
  });
});

describe('the list', () => {
  beforeEach(async () => {
    await anna.submit('term', { term: 'record', meaning: 'Items under an id', topics: ['Apps'] });
    await anna.submit('term', { term: 'Block', meaning: 'Shows a record', topics: ['Apps', 'Web'] });
  });

  const terms = (page: Awaited<ReturnType<typeof app.render>>) => page.findAll('dt').map(({ text }) => text);

  test('is in alphabetical order', async () => {
    const page = await app.render('list');
    assert.deepEqual(terms(page), ['Block', 'record']);
    assert.equal(page.find('[role=status]')?.text, '2 terms');
  });

  test('finds by words and by topic, from a form and from an address', async () => {
    assert.deepEqual(terms(await app.submit('list', { q: 'shows' }, { button: 'find' })), ['Block']);
    assert.deepEqual(terms(await app.submit('list', { topic: 'Web' }, { button: 'Search' })), ['Block']);
    assert.deepEqual(terms(await app.render('list', { query: { q: 'items', topic: 'Web' } })), []);
  });

  test('counts all terms, and its pages keep the search', async () => {
    for (let at = 0; at <= 100; at += 1)
      await app.records.create({ term: `Item ${at}`, meaning: '', words: `item ${at}`, sort_key: `item ${at}` });
    assert.equal((await app.render('list')).find('[role=status]')?.text, '103 terms');
    const page = await app.submit('list', { q: 'item' }, { button: 'find' });
    assert.equal(page.find('[role=status]')?.text, '101 terms');
    const next = await app.open(page.find('[rel=next]')?.attributes.href ?? '');
    assert.deepEqual([terms(page).length, terms(next).length], [100, 1]);
    assert.equal(next.find('[name=q]')?.value, 'item');
  });
});
