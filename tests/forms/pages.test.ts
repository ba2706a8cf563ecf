import { describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useFolder, useStage, useThemes } from '../support/hooks';
import { type Answer, locationOf } from '../support/send';
import { html } from '../support/stage';
import { type Form, type Refusal, tags } from './fields/form';
import { formBody, sendBody } from './files/send';
import { pagesApp } from './pages/app';
import { pagesInBrowsers } from './pages/browsers';
import { fieldsOf, stepOf } from './pages/fields-of';

/** Forms of several pages (docs/reference/definitions.md#pages). */
const themes = useThemes(async (copy) => {
  for (const [file, text] of Object.entries(pagesApp)) await copy.write(`main/${file}`, text);
});
const folder = useFolder('pages');
/** A sender has an eighth of it for files that wait for a form. */
const limits = { keptSize: 4 * 1024 * 1024 };
const stage = useStage(() => ({
  themesDirectory: themes.directory,
  env: { ...configured({ apps: { temporaryDirectory: folder('held'), limits } }), IS_PROXIED: 'true' },
}));

const block = 'steps/blocks/apply';
const get = (path = block) => stage.send({ send: `GET ${path}`, accept: html });
const post = (form: Form, path = block, accept = html) => stage.send<Refusal>({ send: `POST ${path}`, accept, form });
const count = async () => (await stage.send<object[]>({ send: 'GET steps/records' })).json.length;

/** Fills in the page that was answered and presses a button, as a browser without scripts. */
const go = async (shown: { text: string }, form: Form, button: string, path = block) =>
  post({ ...fieldsOf(shown.text), ...form, [button]: '1' }, path);

const messageOf = ({ text }: Answer<unknown>, name: string) =>
  tags(text, name).some((tag) => tag.includes('aria-invalid="true"'));

describe('a form with pages', () => {
  test('begins with its first page', async () => {
    const { text } = await get();
    expect(stepOf(text)).toBe('You');
    expect(text).toContain('<ol class="apps-steps" aria-label="Step 1 of 2">');
    expect(text).not.toContain('Company');
    expect(['name', 'kind', 'street', 'vat', 'level', '_back'].map((name) => tags(text, name).length)).toEqual([
      1, 1, 1, 0, 0, 0,
    ]);
    expect(tags(text, '_save')).toEqual([]);
    expect(text).toContain('<fieldset class="apps-group"><legend>Address</legend>');
  });

  test('checks one page at a time, goes back without a check, and saves at the end', async () => {
    const before = await count();
    const refused = await go(await get(), { name: '', street: 'kept "street"' }, '_next');
    expect([refused.status, stepOf(refused.text), messageOf(refused, 'name')]).toEqual([422, 'You', true]);
    expect(refused.text).toContain('kept &quot;street&quot;');
    const company = await go(refused, { name: 'Ann', kind: 'company' }, '_next');
    expect([company.status, stepOf(company.text)]).toEqual([200, 'Company &lt;1&gt;']);
    expect(company.text).toContain('aria-label="Step 2 of 3"');
    expect(company.text).toMatch(/<h2[^>]* autofocus>/);
    const back = await go(company, { vat: '' }, '_back');
    expect([back.status, stepOf(back.text)]).toEqual([200, 'You']);
    expect(fieldsOf(back.text)).toMatchObject({ name: 'Ann', street: 'kept "street"', kind: 'company' });
    const again = await go(back, {}, '_next');
    const work = await go(again, { vat: '7' }, '_next');
    expect(stepOf(work.text)).toBe('Work');
    // The default of a page that was not seen, though others were sent.
    expect(fieldsOf(work.text)).toMatchObject({ level: '7', vat: '7', name: 'Ann' });
    const added = await go(work, { level: '8' }, 'refs:add');
    expect(stepOf(added.text)).toBe('Work');
    const bad = await go(added, { 'refs:0:who': 'Bob', news: '1' }, '_save');
    expect([bad.status, stepOf(bad.text), messageOf(bad, 'mail')]).toEqual([422, 'Work', true]);
    expect(await count()).toBe(before);
    const saved = await go(bad, { mail: 'a@example.org' }, '_save');
    expect(saved.status).toBe(303);
    const { json } = await stage.send({ send: `GET ${locationOf(saved).pathname}` });
    expect(json).toMatchObject({ name: 'Ann', vat: '7', level: 8, refs: [{ who: 'Bob' }], street: 'kept "street"' });
    const { text } = await get(locationOf(saved).pathname);
    expect(text).toContain('<h2>Company &lt;1&gt;</h2><dl><div><dt>VAT number</dt><dd>7</dd></div>');
  });

  test('leaves out a page that nothing shows on, and shows it when that changes', async () => {
    const work = await go(await get(), { name: 'Ann' }, '_next');
    expect(stepOf(work.text)).toBe('Work');
    const back = await go(work, {}, '_back');
    expect(stepOf(back.text)).toBe('You');
    // Saved at once, with the condition of a page that was not seen: it comes first.
    const company = await go(back, { kind: 'company' }, '_save');
    expect([company.status, stepOf(company.text)]).toEqual([200, 'Company &lt;1&gt;']);
    const saved = await go(await go(company, { vat: '1' }, '_next'), {}, '_save');
    expect(saved.status).toBe(303);
  });

  test('shows the first page with an error at the end', async () => {
    const work = await go(await get(), { name: 'Loki', street: 's' }, '_next');
    const refused = await go(work, {}, '_save');
    expect([refused.status, stepOf(refused.text), messageOf(refused, 'street')]).toEqual([422, 'You', true]);
    expect(refused.text).toContain('Not at this street');
    expect(tags(refused.text, 'street')[0]).toContain('autofocus');
  });

  test('of a record keeps the items of pages that were not seen', async () => {
    const form = { name: 'Ann', kind: 'company', vat: '9', level: '3', 'refs:0:who': 'Bob' };
    const path = locationOf(await post({ ...form, _save: '1' })).pathname;
    const first = await get(`${path}/edit`);
    expect(fieldsOf(first.text)).toMatchObject({ name: 'Ann', kind: 'company' });
    const company = await go(first, { name: 'Anna' }, '_save', path);
    expect([stepOf(company.text), fieldsOf(company.text).vat]).toEqual(['Company &lt;1&gt;', '9']);
    const work = await go(company, {}, '_next', path);
    expect(fieldsOf(work.text)).toMatchObject({ level: '3', 'refs:0:who': 'Bob' });
    expect((await go(work, {}, '_save', path)).status).toBe(303);
    const { json } = await stage.send({ send: `GET ${path}` });
    expect(json).toMatchObject({ name: 'Anna', vat: '9', level: 3, refs: [{ who: 'Bob' }] });
  });

  /** Sends the page that was answered with a file in the field `cv`. */
  const withFile = (shown: { text: string }, content: string, button: string, address = '192.0.2.1') => {
    const fields = Object.entries({ ...fieldsOf(shown.text), vat: '7' });
    const texts = fields.flatMap(([name, value]) => [value].flat().map((one) => ({ name, content: one })));
    const file = { name: 'cv', file: 'statement.txt', content };
    const body = formBody([...texts, file, { name: button, content: '1' }]);
    return sendBody(stage, body, block, html, { 'X-Forwarded-For': address });
  };
  const company = async () => go(await get(), { name: 'Ann', kind: 'company' }, '_next');
  const again = /Please choose the file again\./;

  test.each(['_next', '_back'])('keeps the file of a page that is left with %s', async (button) => {
    const left = await withFile(await company(), 'A line.', button);
    expect([left.status, stepOf(left.text)]).toEqual([200, button === '_next' ? 'Work' : 'You']);
    const saved = await go(button === '_next' ? left : await go(await go(left, {}, '_next'), {}, '_next'), {}, '_save');
    expect(saved.status).toBe(303);
    const { json } = await stage.send({ send: `GET ${locationOf(saved).pathname}` });
    expect(json).toMatchObject({ name: 'Ann', cv: { name: 'statement.txt' } });
  });

  test.each(['_next', '_back'])(
    'asks again for a file that finds no room when the page is left with %s',
    async (button) => {
      const left = await withFile(await company(), 'A line of text.\n'.repeat(40_000), button);
      expect([left.status, stepOf(left.text), messageOf(left as never, 'cv')]).toEqual([
        422,
        'Company &lt;1&gt;',
        true,
      ]);
      expect(left.text).toMatch(again);
      const next = await go(left, {}, button);
      expect([next.status, stepOf(next.text)]).toEqual([200, button === '_next' ? 'Work' : 'You']);
    },
  );

  test('keeps the file of a visitor, whatever is sent from another address', async () => {
    const page = await company();
    const work = await withFile(page, 'A line.', '_next');
    const others = Array.from({ length: 18 }, () => withFile(page, 'A line.'.repeat(30_000), '_next', '203.0.113.5'));
    expect(new Set((await Promise.all(others)).map(({ status }) => status))).toEqual(new Set([200]));
    const saved = await go(work, {}, '_save');
    const { json } = await stage.send({ send: `GET ${locationOf(saved).pathname}` });
    expect(json).toMatchObject({ cv: { name: 'statement.txt', size: 7 } });
  });

  test('asks again, on its page, for a kept file that has given way to newer ones', async () => {
    const before = await count();
    const work = await withFile(await company(), 'A line.', '_next');
    for (const text of ['second', 'third']) expect((await withFile(await company(), text, '_next')).status).toBe(200);
    for (const button of ['_back', 'refs:add', '_save']) {
      const refused = await go(work, {}, button);
      expect([button, refused.status, stepOf(refused.text)]).toEqual([button, 422, 'Company &lt;1&gt;']);
      expect(messageOf(refused, 'cv')).toBe(true);
      expect(refused.text).toContain('The chosen file is no longer there. Please choose it again.');
    }
    expect(await count()).toBe(before);
  });

  test.each<[string, Form, number, string | undefined]>([
    ['a page that does not exist', { name: 'a', _page: '99', _seen: '0,1,77' }, 200, 'You'],
    ['a negative page', { name: 'a', _page: '-5' }, 200, 'You'],
    ['a text', { name: 'a', _page: 'x'.repeat(10_000), _seen: '<b>' }, 200, 'You'],
    ['a list', { name: 'a', _page: ['2', '0'], _seen: ['1', '2'] }, 200, 'You'],
    ['next on the last page', { name: 'a', _page: '2', _next: '1' }, 200, 'Work'],
    ['back on the first page', { name: 'a', _page: '0', _back: '1' }, 200, 'You'],
    ['all at once', { name: 'a', _next: '1', _back: '1', _save: '1', _delete: '1' }, 200, 'You'],
  ])('takes %s', async (_what, form, status, step) => {
    const before = await count();
    const { status: answered, text } = await post(form);
    expect([answered, stepOf(text)]).toEqual([status, step]);
    expect(text).not.toContain('<b>');
    expect(await count()).toBe(before);
  });

  test('is one form for a JSON client', async () => {
    const send = (json: object) => stage.send<Refusal>({ send: `POST ${block}`, json });
    const wrong = await send({ kind: 'company', _save: true });
    expect(wrong.json.error.details.errors.map(({ path }) => path[0])).toEqual(['name', 'vat']);
    const next = await send({ kind: 'company', _next: true });
    expect(next.json.error.details.errors.map(({ path }) => path[0])).toEqual(['name']);
    expect((await send({ name: 'a', _save: true })).status).toBe(201);
  });
});

pagesInBrowsers(stage);
