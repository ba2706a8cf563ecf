import { app, assert, test } from 'strapi-plugin-apps/testing';

const una = app.as({ user: 'una' });
const manager = app.as({ user: 'mona', groups: ['managers'], permissions: ['plugin::apps.app.manage'] });
const texts = (page) => page.findAll('.comment-text').map(({ text }) => text);

test('a comment is shown to its author, and to all once it is approved', async () => {
  const page = await una.submit('comments', { text: 'First!' });
  assert.match(page.find('[role=status]').text, /Thank you/);
  assert.deepEqual(texts(page), ['First!']);
  assert.deepEqual(texts(await app.render('comments')), []);

  const [{ id }] = await app.records.search();
  await manager.submit('moderate', { chosen: [id] }, { button: 'approve' });
  assert.deepEqual(texts(await app.render('comments')), ['First!']);
});

test('a moderator deletes comments', async () => {
  await una.submit('comments', { text: 'Spam' });
  const [{ id }] = await app.records.search();
  const page = await manager.submit('moderate', { chosen: [id] }, { button: 'reject' });
  assert.equal(page.find('[role=status]').text, 'No comment is waiting.');
  assert.equal(await app.records.count(), 0);
});

test('a visitor without an account is asked to log in', async () => {
  const page = await app.render('comments');
  assert.equal(page.find('textarea'), null);
  assert.match(page.find('a').attributes.href, /@@login\?next=/);
  assert.equal((await app.render('moderate')).status, 401);
});

test('a JSON client cannot approve its own comment', async () => {
  const { status } = await una.request('POST', '', { block: 'comments', text: 'Mine', state: 'approved' });
  assert.equal(status, 422);
  assert.equal(await app.records.count(), 0);
});
