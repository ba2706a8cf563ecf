import { app, assert, test } from 'strapi-plugin-apps/testing';

const eric = app.as({ user: 'eric', groups: ['editors'] });
const message = { name: 'Nora', email: 'nora@example.com', message: 'Hello\nyou' };

test('a message arrives, and its sender is thanked', async () => {
  app.clock.set('2026-01-01T08:30:00Z');
  const page = await app.submit('message', message);
  assert.match(page.redirect ?? '', /sent=yes$/);
  assert.match(page.find('[role=status]')?.text ?? '', /Thank you/);
  const [stored] = await app.records.search();
  assert.equal(stored?.items.sent_at, '2026-01-01T08:30:00.000Z');
  assert.equal(stored?.items.block, 'letter');
});

test('a message without an address is refused', async () => {
  const page = await app.submit('message', { ...message, email: 'nora' });
  assert.equal(page.status, 422);
  assert.deepEqual(Object.keys(page.errors), ['email']);
  assert.equal(page.find('textarea')?.value, message.message);
});

test('only editors read and delete messages', async () => {
  await app.submit('message', message);
  assert.equal((await app.render('inbox')).status, 401);
  const inbox = await eric.render('inbox');
  assert.match(inbox.text, /Nora/);
  const [stored] = await app.records.search();
  const page = await eric.record(stored?.id ?? '');
  assert.match((await page.submit({}, { button: '_delete' })).redirect ?? '', /\/blocks\/inbox$/);
  assert.match((await eric.render('inbox')).text, /No messages/);
});
