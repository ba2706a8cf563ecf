import { app, assert, beforeEach, describe, test } from 'strapi-plugin-apps/testing';

const anna = app.as({ user: 'anna', groups: ['authors'] });
const sam = app.as({ user: 'sam', groups: ['submitters'] });
const eric = app.as({ user: 'eric', groups: ['editors'] });

let article;
beforeEach(async () => {
  article = await app.content.create('api::article.article', { title: 'News', slug: 'news' });
});

const comment = (visitor, text) => visitor.submit('comment', { text }, { content: article });
/** The boxes of the comments that wait, as a moderator sees them. */
const waiting = async () => (await eric.render('moderate')).findAll('[name=chosen]').map(({ value }) => value);
const idOf = (box) => box.split(' ')[0];
const texts = (page) => page.findAll('.comment-text').map(({ text }) => text);

test('a comment waits for a moderator, and only its author sees it', async () => {
  const page = await comment(sam, 'First!');
  assert.match(page.redirect, /sent=yes$/);
  assert.match(page.find('[role=status]').text, /Thank you/);
  assert.deepEqual(texts(page), ['First!']);
  assert.deepEqual(texts(await app.render('comment', { content: article })), []);
});

test('a visitor without an account is asked to log in', async () => {
  const page = await app.render('comment', { content: article });
  assert.equal(page.find('textarea'), null);
  assert.match(page.find('a[href*="@@login"]').attributes.href, /next=%2Fsite%2Farticles%2Fnews/);
});

test('an empty comment is refused', async () => {
  const page = await comment(sam, '');
  assert.equal(page.status, 422);
  assert.deepEqual(Object.keys(page.errors), ['text']);
});

test('a comment belongs to the page, with author and time set by the server', async () => {
  app.clock.set('2026-03-04T05:06:07Z');
  await comment(sam, 'Hello');
  const [{ items }] = await app.records.search();
  assert.equal(items.page, '/articles/news');
  assert.equal(items.author, 'sam');
  assert.equal(items.created_at, '2026-03-04T05:06:07.000Z');
  assert.match((await sam.render('comment', { content: article })).find('.comment time').text, /March 4, 2026/);
});

test('the JSON interface cannot approve a comment', async () => {
  const approved = { block: 'comment', text: 'Mine', state: 'approved' };
  assert.equal((await sam.request('POST', '', approved)).status, 403);
  const refused = await anna.request('POST', '', approved);
  assert.equal(refused.status, 409);
  assert.equal(refused.error.details.code, 'state');
  assert.equal(await app.records.count(), 0);
});

test('a changed comment waits again', async () => {
  await comment(anna, 'Approved');
  await eric.submit('moderate', { chosen: await waiting() }, { button: 'approve' });
  const [{ id }] = await app.records.search("'approved' in state");
  await (await anna.record(id, { edit: true })).submit({ text: 'Changed' });
  assert.equal((await app.records.search())[0].items.state, 'waiting');
});

describe('moderation', () => {
  beforeEach(async () => {
    for (const text of ['Good', 'Spam', 'Better']) await comment(sam, text);
  });

  test('approves the chosen comments', async () => {
    const [good, , better] = await waiting();
    const after = await eric.submit('moderate', { chosen: [good, better] }, { button: 'approve' });
    assert.equal(after.findAll('[name=chosen]').length, 1);
    assert.deepEqual(texts(await app.render('comment', { content: article })).sort(), ['Better', 'Good']);
  });

  test('approves one on its page, by its button', async () => {
    const good = idOf((await waiting())[0]);
    assert.equal((await eric.record(good)).find('[name=_state]').attributes.value, 'approved');
    assert.equal((await sam.request('PATCH', `record/${good}`, { state: 'approved' })).status, 403);
    assert.equal((await eric.request('PATCH', `record/${good}`, { state: 'approved' })).status, 200);
    assert.deepEqual(texts(await app.render('comment', { content: article })), ['Good']);
  });

  test('deletes rejected comments', async () => {
    const [, spam] = await waiting();
    await eric.submit('moderate', { chosen: [spam] }, { button: 'reject' });
    assert.equal(await app.records.get(idOf(spam)), null);
    assert.equal(await app.records.count(), 2);
  });

  test('leaves a comment that was changed since it was read', async () => {
    await comment(anna, 'Harmless');
    const read = await eric.render('moderate');
    const chosen = await waiting();
    const [{ id }] = await app.records.search("author == 'anna'");
    await (await anna.record(id, { edit: true })).submit({ text: 'Harmful' });
    await read.submit({ chosen }, { button: 'approve' });
    assert.equal((await app.records.get(id)).items.state, 'waiting');
    assert.deepEqual((await waiting()).map(idOf), [id]);
  });

  test('says when there is nothing to do', async () => {
    await eric.submit('moderate', { chosen: await waiting() }, { button: 'approve' });
    assert.match((await eric.render('moderate')).find('[role=status]').text, /no comment is waiting/);
  });

  test('is for editors', async () => {
    assert.equal((await app.render('moderate')).status, 401);
    assert.equal((await anna.render('moderate')).status, 403);
  });
});

test('a screen in the staff room shows each new comment', async () => {
  app.fetch.answer('http://127.0.0.1:13371/screen', ({ method }) =>
    method === 'POST'
      ? { status: 204 }
      : { body: { messages: [{ id: '1', at: '2026-03-04T05:06:07Z', body: { author: 'sam' } }], refused: 2 } },
  );
  await comment(sam, 'For the screen');
  assert.equal(await app.jobs.run(), 1);
  const [call] = app.fetch.calls;
  assert.deepEqual(JSON.parse(call.body), { author: 'sam', page: '/articles/news', text: 'For the screen' });
  const page = await eric.render('screen');
  assert.match(page.find('.screen').text, /sam/);
  assert.match(page.text, /2 messages were refused/);
  assert.equal((await sam.render('screen')).status, 403);
});

test('each morning the moderators are told what waits', async () => {
  app.fetch.answer('http://127.0.0.1:13371/screen', { status: 204 });
  app.clock.set('2026-03-04T05:06:07Z');
  await app.jobs.run();
  await comment(sam, 'Waiting');
  // Together longer than a mail may be; without a block the screen is not told of them.
  const page = `/articles/${'n'.repeat(60)}`;
  const long = { state: 'waiting', author: 'sam', page, text: 'x'.repeat(2_000) };
  for (let at = 10; at < 60; at += 1) await app.records.create({ ...long, created_at: `2026-03-04T05:07:${at}Z` });
  app.clock.set('2026-03-05T12:00:00Z');
  // The digest, and the message to the screen; that the digest is mailed is no try more.
  assert.equal(await app.jobs.run(), 2);
  const jobs = await app.jobs.list();
  assert.deepEqual(
    jobs.filter(({ kind }) => kind === 'schedule').map(({ name, state }) => [name, state]),
    [['digest/send', 'done']],
  );
});

test('the latest comments are shown, and lead to the older ones', async () => {
  for (let at = 0; at <= 100; at += 1) {
    const created_at = new Date(at).toISOString();
    const items = { page: '/articles/news', state: 'approved', author: 'sam', text: `No. ${at}`, created_at };
    await app.records.create({ block: 'comment', ...items });
  }
  const page = await app.render('comment', { content: article });
  assert.deepEqual([texts(page).length, texts(page)[0], texts(page)[99]], [100, 'No. 1', 'No. 100']);
  assert.deepEqual(texts(await app.open(page.find('[rel=next]').attributes.href)), ['No. 0']);
});
