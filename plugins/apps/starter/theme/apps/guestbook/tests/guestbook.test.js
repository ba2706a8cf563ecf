// Runs with: npx strapi-plugin-apps test guestbook
import { app, assert, test } from 'strapi-plugin-apps/testing';

const entry = { name: 'Nora', message: 'Hello!' };

test('an entry is stored with its time, and shown', async () => {
  app.clock.set('2026-01-01T12:00:00Z');
  const page = await app.submit('guestbook', entry);
  assert.equal(page.find('.card strong').text, 'Nora');
  assert.equal(page.find('.card time').text, '1 January 2026');
  assert.equal((await app.records.search())[0].items.written_at, '2026-01-01T12:00:00.000Z');
});

test('an entry without a name is refused', async () => {
  const page = await app.submit('guestbook', { ...entry, name: '' });
  assert.equal(page.status, 422);
  assert.deepEqual(Object.keys(page.errors), ['name']);
  assert.equal(await app.records.count(), 0);
});

test('the latest three entries are shown elsewhere', async () => {
  for (const name of ['A', 'B', 'C', 'D']) await app.submit('guestbook', { ...entry, name });
  const page = await app.render('latest');
  assert.equal(page.findAll('.card').length, 3);
});

test('visitors cannot delete entries, managers can', async () => {
  await app.submit('guestbook', entry);
  const [{ id }] = await app.records.search();
  assert.equal((await app.request('DELETE', `record/${id}`)).status, 401);
  const manager = app.as({ user: 'mona', groups: ['managers'], permissions: ['plugin::apps.app.manage'] });
  assert.equal((await manager.request('DELETE', `record/${id}`)).status, 200);
});
