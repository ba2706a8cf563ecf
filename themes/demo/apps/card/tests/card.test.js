import { app, assert, test } from 'strapi-plugin-apps/testing';

const applicant = { name: 'Nora', email: 'nora@example.org' };
const step = (page) => page.find('[aria-current=step]').text;

test('the form begins with its first page', async () => {
  const page = await app.render('apply');
  assert.equal(step(page), 'You');
  assert.equal(page.find('[name=name]').value, '');
  assert.equal(page.find('[name=proof]'), null);
});

test('nothing is stored before the last page, and not without a proof of the address', async () => {
  const family = await app.submit('apply', applicant, { button: '_next' });
  assert.equal(step(family), 'Your family');
  const papers = await family.submit({}, { button: '_next' });
  assert.equal(step(papers), 'Papers');
  const refused = await papers.submit({ consent: true });
  assert.equal(refused.status, 422);
  assert.deepEqual(Object.keys(refused.errors), ['proof']);
  assert.equal(await app.records.count(), 0);
});

test('a page that is not right is shown again', async () => {
  const page = await app.submit('apply', { ...applicant, email: 'nora' }, { button: '_next' });
  assert.equal(page.status, 422);
  assert.equal(step(page), 'You');
  assert.deepEqual(Object.keys(page.errors), ['email']);
});
