import { app, assert, test } from 'strapi-plugin-apps/testing';

const manager = app.as({ user: 'mona', groups: ['managers'], permissions: ['plugin::apps.app.manage'] });
const message = { name: 'Nora', email: 'nora@example.com', subject: 'A question', message: 'How are you?' };

test('a message arrives, and its sender is thanked', async () => {
  const page = await app.submit('contact', message);
  assert.match(page.find('[role=status]').text, /Your message has arrived/);
  assert.equal((await app.records.search())[0].items.subject, 'question');
});

test('a wrong address is refused, and nothing of the message is lost', async () => {
  const page = await app.submit('contact', { ...message, email: 'nora' });
  assert.equal(page.status, 422);
  assert.deepEqual(Object.keys(page.errors), ['email']);
  assert.equal(page.find('textarea').value, 'How are you?');
});

test('a manager reads and deletes messages, a visitor does not', async () => {
  await app.submit('contact', message);
  assert.equal((await app.render('inbox')).status, 401);
  assert.match((await manager.render('inbox')).text, /Nora/);
  const page = await manager.record((await app.records.search())[0].id);
  assert.match((await page.submit({}, { button: '_delete' })).text, /No messages yet/);
});
