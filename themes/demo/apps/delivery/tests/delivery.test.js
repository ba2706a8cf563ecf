import { app, assert, test } from 'strapi-plugin-apps/testing';

const SERVICE = 'http://127.0.0.1:13371/codes/*';
const order = { name: 'Nora', street: 'Mill Lane 4', code: '04177' };
/** Sends the form of the whole page, which shows what comes of it. */
const send = async (fields) => (await app.open('/@@delivery')).submit(fields);
const status = (page) => page.find('[role=status]')?.text;
const towns = async () => (await app.records.search()).map(({ items }) => items.town);

test('the town of a postal code comes from a web service', async () => {
  app.fetch.answer(SERVICE, { body: { town: 'Lindenau' } });
  assert.match(status(await send(order)), /We come to Lindenau/);
  assert.deepEqual(
    app.fetch.calls.map(({ url }) => url),
    ['http://127.0.0.1:13371/codes/04177'],
  );
  assert.deepEqual(await towns(), ['Lindenau']);
});

test('a postal code that does not exist is refused', async () => {
  app.fetch.answer(SERVICE, { status: 404 });
  const page = await send({ ...order, code: '99999' });
  assert.equal(page.status, 422);
  assert.deepEqual(page.errors, { code: 'There is no such postal code.' });
  assert.deepEqual(await towns(), []);
});

test('the service is not asked for what is no postal code', async () => {
  const page = await send({ ...order, code: 'Leipzig' });
  assert.equal(page.status, 422);
  assert.deepEqual(app.fetch.calls, []);
});

test('an order is stored while the service does not answer', async () => {
  app.fetch.answer(SERVICE, { status: 503 });
  assert.match(status(await send(order)), /We will write to you/);
  assert.deepEqual(await towns(), ['']);
});
