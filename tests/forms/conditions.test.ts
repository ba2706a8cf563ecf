import { describe, expect, test } from 'vitest';
import type { Items } from '../../plugins/apps/shared/json';
import { hasBrowser } from '../support/browser';
import { useBrowser, useStage, useThemes } from '../support/hooks';
import { html } from '../support/stage';
import { type Form, type Refusal, tags } from './fields/form';
import { fieldsOf, stepOf } from './pages/fields-of';

/** Conditions on fields that a form does not let its visitor change, or shows otherwise (docs/reference/definitions.md#show_if). */
const app = {
  'apps/club/settings.yaml': "acl: { rights: { editor: ['*'] } }\n",
  'apps/club/blocks/join.yaml': `elements:
  kind: { type: SELECT, options: [private, company], readonly: true, default: company }
  origin: { type: TEXT, readonly: true, default: web }
  inner: { type: TEXT, readonly: true, default: set, show_if: { origin: shop } }
  note: { type: TEXT }
  vat: { type: TEXT, label: VAT, required: true, show_if: { kind: company } }
  source: { type: TEXT, label: Source, show_if: { origin: web } }
  unnoted: { type: TEXT, show_if: { note: null } }
  noted: { type: TEXT, required: true, show_if: { note: x } }
  inside: { type: TEXT, required: true, show_if: { inner: set } }
  member: { type: RADIO, label: Member, options: [{ value: true, label: 'Yes' }, { value: false, label: 'No' }] }
  number: { type: TEXT, label: Number, required: true, show_if: { member: true } }
  other: { type: TEXT, label: Other, show_if: { member: false } }
  paper: { type: FILE, label: Paper, required: true, show_if: { member: true } }
  cv: { type: FILE, label: CV }
  reason: { type: TEXT, label: Why, required: true, show_if: { cv: null } }
  guests: { type: REPEAT, label: Guests, elements: { name: TEXT } }
  table: { type: TEXT, label: Table, show_if: { guests: { not: null } } }
  make: BASIC
`,
  'apps/club/blocks/join.html':
    '{kind}{origin}{inner}{vat}{source}{unnoted}{noted}{inside}{member}{number}{other}{paper}{cv}{reason}{guests}{table}{_save}{_edit}',
  'apps/club/blocks/join.js': `
export const make = ({ app, request }) => void app.create_record('made').save({ block: 'join', ...request.body }, { creation: true });
`,
  'apps/club/blocks/steps.yaml': `pages:
  - { title: You, elements: [kind, name] }
  - { title: Company, elements: [vat], show_if: { kind: company } }
  - { title: Shop, elements: [shop], show_if: { origin: web } }
  - { title: Private, elements: [age], show_if: { kind: { not: company } } }
  - { title: End, elements: [news] }
elements:
  kind: { type: TEXT, readonly: true, default: private }
  origin: { type: TEXT, default: web }
  name: { type: TEXT, label: Name }
  vat: { type: TEXT, label: VAT, required: true }
  shop: { type: TEXT, label: Shop, required: true }
  age: { type: NUMBER, label: Age, required: true }
  news: { type: BOOLEAN }
`,
  'apps/club/blocks/box.yaml':
    'elements: { member: BOOLEAN, number: { type: TEXT, required: true, show_if: { member: true } } }\n',
  'apps/club/blocks/box.html': '<input type="checkbox" name="member">{number}{_save}',
  'apps/club/blocks/boxed.yaml': `pages:
  - { title: One, elements: [name] }
  - { title: Two, elements: [code], show_if: { member: true } }
elements: { member: BOOLEAN, name: TEXT, code: TEXT }
`,
  'apps/club/blocks/boxed.html': '<input type="checkbox" name="member">{_pages}',
  'apps/club/blocks/steps.html': '{_pages}{_edit}',
  'apps/club/blocks/steps.js': "export const kind = () => 'company';",
};

const themes = useThemes(async (copy) => {
  for (const [file, text] of Object.entries(app)) await copy.write(`main/${file}`, text);
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));

const form = 'club/blocks/join';
const errorsOf = ({ json }: { json: Refusal }) => json.error?.details.errors.map(({ path }) => path.join('.')) ?? [];
const idOf = (location: string | null) => decodeURIComponent(/record\/([^/?]+)/.exec(location ?? '')?.[1] ?? '');

describe('conditions on fields that a visitor cannot change', () => {
  test.each<[string, Items, string[]]>([
    ['what a readonly field shows is demanded', { reason: 'r' }, ['vat']],
    ['and taken', { vat: 'X1', source: 's', reason: 'r' }, []],
    ['an option that is true', { vat: 'X1', reason: 'r', member: true }, ['number', 'paper']],
  ])('%s', async (_title, items, wrong) => {
    const fields = Object.fromEntries(Object.entries(items).map(([name, value]) => [name, String(value)]));
    const sent = await stage.send<Refusal>({
      send: `POST ${form}`,
      accept: 'application/json',
      form: { ...fields, _save: '' },
    });
    expect(errorsOf(sent)).toEqual(wrong);
    const made = await stage.send<Refusal & { path: string }>({ send: 'POST club', json: { block: 'join', ...items } });
    expect(errorsOf(made)).toEqual(wrong);
    if (wrong.length > 0) return;
    const { json } = await stage.send({ send: `GET club/record/${idOf(made.json.path)}` });
    expect(json).toMatchObject({ kind: 'company', origin: 'web', ...items });
    // Its own condition is not met.
    expect(json).not.toHaveProperty('inner');
  });

  test('logic decides by what it sets', async () => {
    const made = await stage.send({ send: `POST ${form}/make`, json: { kind: 'private', vat: 'X1', reason: 'r' } });
    expect(made.status).toBe(200);
    const items = await stage.items('club', 'made');
    expect(items).toMatchObject({ kind: 'private', reason: 'r' });
    expect(items?.vat ?? null).toBeNull();
  });

  test('a form has the pages of the values that are saved', async () => {
    const steps = 'club/blocks/steps';
    const titles = ({ text }: { text: string }) => {
      const [list = ''] = /<ol class="apps-steps".*?<\/ol>/s.exec(text) ?? [];
      return [...list.matchAll(/<li[^>]*>([^<]*)</g)].map(([, title]) => title);
    };
    const go = (shown: { text: string }, fields: Form, button: string, path = steps) =>
      stage.send({ send: `POST ${path}`, accept: html, form: { ...fieldsOf(shown.text), ...fields, [button]: '' } });
    const first = await stage.send({ send: `GET ${steps}`, accept: html });
    expect(titles(first)).toEqual(['You', 'Company', 'End']);
    const company = await go(first, { name: 'Ann' }, '_save');
    expect([company.status, stepOf(company.text), titles(company)]).toEqual([200, 'Company', titles(first)]);
    const refused = await go(company, {}, '_next');
    expect([refused.status, stepOf(refused.text), tags(refused.text, 'vat')]).toEqual([
      422,
      'Company',
      [expect.anything()],
    ]);
    const end = await go(refused, { vat: 'X1' }, '_next');
    expect([end.status, stepOf(end.text)]).toEqual([200, 'End']);
    const saved = await go(end, {}, '_save');
    expect(saved.status, saved.text).toBe(303);
    const id = idOf(String(saved.headers.location));
    expect(await stage.items('club', id)).toMatchObject({ kind: 'company', vat: 'X1' });

    await stage.keep('club', 'private', { block: 'steps', kind: 'private', origin: 'web' });
    const path = 'club/record/private';
    const edited = await stage.send({ send: `GET ${path}/edit`, accept: html });
    expect(titles(edited)).toEqual(['You', 'Shop', 'Private', 'End']);
    const shop = await go(edited, {}, '_save', path);
    expect([shop.status, stepOf(shop.text)]).toEqual([200, 'Shop']);
  });

  test('a box of the own markup of a layout leads to the page that needs it', async () => {
    const sent = (member: Form) =>
      stage.send({
        send: 'POST club/blocks/boxed',
        accept: html,
        form: { ...member, name: 'Ann', _page: '0', _seen: '0', _next: '' },
      });
    expect(stepOf((await sent({ member: 'on' })).text)).toBe('Two');
    expect(stepOf((await sent({})).text)).toBe('One');
  });

  test('the server decides where the form has no control', async () => {
    const { text } = await stage.send({ send: `GET ${form}`, accept: html });
    expect(tags(text, 'noted')).toEqual([]);
    expect(tags(text, 'unnoted')).toHaveLength(1);
    expect(text.match(/<span class="apps-field"[^>]*>(?=<input[^>]*name="unnoted")/)?.[0]).not.toContain('show-if');
  });
});

describe.skipIf(!hasBrowser)('in a browser', () => {
  const browser = useBrowser();
  const file = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from('text') });

  test('a box of the own markup of a layout shows what depends on it', async () => {
    const { page, context } = await browser.visitor();
    await page.goto(`${stage.host.url}/site/@@apps/club/blocks/box`);
    expect(await page.isVisible('[name=number]')).toBe(false);
    await page.check('[name=member]');
    await page.fill('[name=number]', '7');
    await page.click('[name=_save]');
    await page.waitForURL(/\/record\//);
    expect(await stage.items('club', idOf(page.url()))).toMatchObject({ member: true, number: '7' });
    await context.close();
  });

  test('a form shows what the server demands, and a second sending changes nothing', async () => {
    const { page, context } = await browser.visitor();
    const url = `${stage.host.url}/site/@@apps/club`;
    await page.goto(`${url}/blocks/join`);
    const shown = async () => {
      const names = ['vat', 'source', 'inside', 'number', 'other', 'paper', 'reason', 'table'];
      const visible = await Promise.all(names.map((name) => page.isVisible(`[name="${name}"]`)));
      return names.filter((_, at) => visible[at]);
    };
    await page.click('[name="guests:add"]');
    await page.waitForSelector('[name="guests:0:name"]');
    // Nothing and false are the same to a condition.
    expect(await shown()).toEqual(['vat', 'source', 'other', 'reason']);
    await page.check('[name=member][value=true]');
    await page.setInputFiles('[name=cv]', file('cv.txt'));
    await page.fill('[name="guests:0:name"]', 'Bob');
    expect(await shown()).toEqual(['vat', 'source', 'number', 'paper', 'table']);
    await page.check('[name=member][value=false]');
    await page.setInputFiles('[name=cv]', []);
    expect(await shown()).toEqual(['vat', 'source', 'other', 'reason', 'table']);
    await page.check('[name=member][value=true]');
    await page.setInputFiles('[name=cv]', file('cv.txt'));
    await page.setInputFiles('[name=paper]', file('paper.txt'));
    const entered: Form = { vat: 'X1', source: 's', number: '7', table: 't' };
    for (const [name, text] of Object.entries(entered)) await page.fill(`[name=${name}]`, String(text));
    await page.click('[name=_save]:visible');
    await page.waitForURL(/\/record\//);
    const id = idOf(page.url());
    const { cv, paper, ...stored } = (await stage.items('club', id)) ?? {};
    expect(stored).toMatchObject({ ...entered, kind: 'company', member: true, guests: [{ name: 'Bob' }] });

    await page.goto(`${url}/record/${id}/edit`);
    expect(await shown()).toEqual(['vat', 'source', 'number', 'paper', 'table']);
    await page.fill('[name=source]', 'again');
    await page.click('[name=_save]:visible');
    await page.waitForURL(/\/record\/[^/]+$/);
    expect(await stage.items('club', id)).toMatchObject({ ...stored, cv, paper, source: 'again' });
    await context.close();
  });
});
