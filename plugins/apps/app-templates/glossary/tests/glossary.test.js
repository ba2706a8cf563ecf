import { app, assert, beforeEach, test } from 'strapi-plugin-apps/testing';

const una = app.as({ user: 'una' });
const terms = (page) => page.findAll('dt').map(({ text }) => text);

beforeEach(async () => {
  await una.submit('term', { term: 'record', meaning: 'Items under an id' });
  await una.submit('term', { term: 'Café', meaning: 'Shows records' });
});

test('terms are in alphabetical order, at addresses that can be guessed', async () => {
  assert.deepEqual(terms(await app.render('glossary')), ['Café', 'record']);
  assert.equal((await app.record('cafe')).find('h1').text, 'Café');
});

test('words are found', async () => {
  assert.deepEqual(terms(await app.submit('glossary', { q: 'shows' }, { button: 'find' })), ['Café']);
  assert.deepEqual(terms(await app.render('glossary', { query: { q: 'rec*' } })).sort(), ['Café', 'record']);
});

test('only its author changes a term', async () => {
  const form = await una.record('cafe', { edit: true });
  await form.submit({ meaning: 'A place' });
  assert.equal((await app.records.get('cafe')).items.words, 'Café A place');
  const otto = app.as({ user: 'otto' });
  assert.equal((await otto.request('PATCH', 'record/cafe', { meaning: '' })).status, 403);
});

test('a visitor who may not add terms is sent to the list', async () => {
  assert.match((await app.render('term')).redirect, /blocks\/glossary$/);
});

test('all terms are counted, and the pages of a search keep it', async () => {
  for (let at = 0; at <= 100; at += 1)
    await app.records.create({ term: `Item ${at}`, meaning: '', words: `item ${at}`, sort_key: `item ${at}` });
  assert.equal((await app.render('glossary')).find('[role=status]').text, '103 terms');
  const page = await app.submit('glossary', { q: 'item' }, { button: 'find' });
  assert.equal(page.find('[role=status]').text, '101 terms');
  assert.equal(terms(page).length, 100);
  const next = await app.open(page.find('[rel=next]').attributes.href);
  assert.equal(terms(next).length, 1);
  assert.equal(next.find('[name=q]').value, 'item');
});
