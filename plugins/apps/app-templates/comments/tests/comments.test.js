import { app, assert, test } from 'strapi-plugin-apps/testing';

const una = app.as({ user: 'una' });
const manager = app.as({ user: 'mona', groups: ['managers'], permissions: ['plugin::apps.app.manage'] });
/** The boxes of the comments that wait, as a moderator sees them. */
const waiting = async () => (await manager.render('moderate')).findAll('[name=chosen]').map(({ value }) => value);
const texts = (page) => page.findAll('.comment-text').map(({ text }) => text);

test('a comment is shown to its author, and to all once it is approved', async () => {
  const page = await una.submit('comments', { text: 'First!' });
  assert.match(page.find('[role=status]').text, /Thank you/);
  assert.deepEqual(texts(page), ['First!']);
  assert.deepEqual(texts(await app.render('comments')), []);

  await manager.submit('moderate', { chosen: await waiting() }, { button: 'approve' });
  assert.deepEqual(texts(await app.render('comments')), ['First!']);
});

test('a comment that waits is read by its author and moderators only', async () => {
  await una.submit('comments', { text: 'Mine' });
  const [{ id }] = await app.records.search();
  const uri = app.as({ user: 'uri' });
  const read = async (visitor) => {
    const { status } = await visitor.request('GET', `record/${id}`);
    return [status, (await visitor.request('GET', 'records')).value?.length, texts(await visitor.render('comments'))];
  };
  assert.deepEqual(await read(una), [200, 1, ['Mine']]);
  assert.deepEqual(await read(uri), [404, 0, []]);
  assert.deepEqual((await read(manager)).slice(0, 2), [200, 1]);
});

test('a comment that its author has changed since it was read is not approved', async () => {
  await una.submit('comments', { text: 'Harmless' });
  const [chosen] = await waiting();
  const read = await manager.render('moderate');
  const [{ id }] = await app.records.search();
  await (await una.record(id, { edit: true })).submit({ text: 'Harmful' });
  await read.submit({ chosen: [chosen] }, { button: 'approve' });
  assert.equal((await app.records.get(id)).items.state, 'waiting');
});

test('a moderator deletes comments', async () => {
  await una.submit('comments', { text: 'Spam' });
  const page = await manager.submit('moderate', { chosen: await waiting() }, { button: 'reject' });
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
  await una.submit('comments', { text: 'Mine' });
  const [{ id }] = await app.records.search();
  assert.equal((await una.request('PATCH', `record/${id}`, { state: 'approved' })).status, 422);
  assert.equal((await app.records.get(id)).items.state, 'waiting');
});

test('the latest comments are shown, and lead to the older ones', async () => {
  for (let at = 0; at <= 100; at += 1) {
    const written_at = new Date(at).toISOString();
    await app.records.create({ page: '/', state: 'approved', author: 'una', text: `No. ${at}`, written_at });
  }
  const page = await app.render('comments');
  assert.deepEqual([texts(page).length, texts(page)[0], texts(page)[99]], [100, 'No. 1', 'No. 100']);
  assert.deepEqual(texts(await app.open(page.find('[rel=next]').attributes.href)), ['No. 0']);
});
