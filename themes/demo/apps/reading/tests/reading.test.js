import { app, assert, test } from 'strapi-plugin-apps/testing';

const guest = (name) => ({ name, email: `${name.toLowerCase()}@example.org` });
const states = async () => (await app.records.search()).map(({ items }) => items._state ?? 'place');

test('a registration waits until its address is confirmed', async () => {
  const page = await (await app.open('/@@reading')).submit(guest('Nora'));
  assert.match(page.find('[role=status]').text, /mail was sent/);
  assert.deepEqual(await states(), ['unconfirmed']);
});

test('an address registers once', async () => {
  await (await app.open('/@@reading')).submit(guest('Nora'));
  const again = await (await app.open('/@@reading')).submit(guest('NORA'));
  assert.equal(again.status, 422);
  assert.deepEqual(Object.keys(again.errors), ['email']);
});
