import { app, assert, test } from 'strapi-plugin-apps/testing';

const applicant = { name: 'Nora', email: 'nora@example.org', consent: true };

test('the form begins with its first page', async () => {
  const page = await app.render('apply');
  assert.equal(page.find('[aria-current=step]').text, 'You');
  assert.equal(page.find('[name=name]').value, '');
  assert.equal(page.find('[name=proof]'), null);
});

test('nothing is stored without a proof of the address', async () => {
  const page = await app.submit('apply', applicant);
  assert.equal(page.status, 422);
  assert.deepEqual(Object.keys(page.errors), ['proof']);
  assert.equal(await app.records.count(), 0);
});

test('a child gets no card of its own', async () => {
  app.clock.set('2026-01-01T12:00:00Z');
  const page = await app.submit('apply', { ...applicant, born: '2020-05-01' });
  assert.match(page.errors.born, /with that of an adult/);
});
