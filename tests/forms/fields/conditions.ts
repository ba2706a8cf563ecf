import { describe, expect, test } from 'vitest';
import { locationOf } from '../../support/send';
import type { Stage } from '../../support/stage';
import { html } from '../../support/stage';
import type { Form, Refusal } from './form';
import { tags } from './form';

const shown = 'forms/blocks/conditional';

export function conditions(stage: Stage): void {
  const post = (form: Form, path = shown, accept = html) =>
    stage.send<Refusal>({ send: `POST ${path}`, accept, form: { ...form, _save: '' } });

  describe('fields on a condition', () => {
    test.each<[string, Form, string[]]>([
      ['private', { kind: 'private' }, []],
      ['without a kind', {}, ['street']],
      ['a company', { kind: 'company' }, ['vat', 'street']],
      ['a company with all', { kind: 'company', vat: '1', street: 's' }, []],
      ['a club', { kind: 'club', vat: '1', street: 's' }, ['chair']],
      ['a club without the field before', { kind: 'club', street: 's' }, ['vat']],
      ['a member', { kind: 'private', member: '1' }, ['number']],
      ['a wrong kind', { kind: 'other' }, ['kind', 'street']],
      ['what is hidden', { kind: 'private', vat: '1', chair: 'c', number: 'x', street: 's' }, []],
    ])('%s', async (_what, form, wrong) => {
      const sent = await post(form, shown, 'application/json');
      expect(sent.json.error?.details.errors.map(({ path }) => path[0]) ?? []).toEqual(wrong);
    });

    test('are stored only while they are shown', async () => {
      const made = await post({ kind: 'private', vat: 'hidden', street: 'hidden' });
      const path = locationOf(made).pathname;
      const item = async () => (await stage.send({ send: `GET ${path}` })).json;
      expect(await item()).toEqual(expect.not.objectContaining({ vat: expect.anything(), street: expect.anything() }));
      await post({ kind: 'company', vat: '7', street: 's', city: 'c' }, path);
      expect(await item()).toMatchObject({ kind: 'company', vat: '7', street: 's' });
      const { text } = await stage.send({ send: `GET ${path}`, accept: html });
      expect(text).toContain('<section class="apps-group wide"><h2>Address &lt;1&gt;</h2><dl>');
      expect(text).toContain('<div><dt>Street</dt><dd>s</dd></div>');
      await post({ kind: 'private' }, path);
      expect(await item()).toMatchObject({ kind: 'private', vat: null, street: null });
      expect((await stage.send({ send: `GET ${path}`, accept: html })).text).not.toContain('apps-group');
    });

    test('are all in the page, and demanded by the server only', async () => {
      const { text } = await stage.send({ send: `GET ${shown}`, accept: html });
      expect(tags(text, 'vat')[0]).toContain('data-apps-required="true"');
      expect(tags(text, 'vat')[0]).not.toMatch(/ required/);
      expect(text).toContain(
        `data-apps-show-if="{&quot;kind&quot;:{&quot;not&quot;:false,&quot;values&quot;:[&quot;company&quot;,&quot;club&quot;]}}"`,
      );
      expect(text).toMatch(
        /<fieldset class="apps-group wide" data-apps-show-if="[^"]+"><legend>Address &lt;1&gt;<\/legend>/,
      );
      expect(text).toMatch(/<p class="apps-help">where<\/p>.*name="street".*name="city".*<\/fieldset>/s);
    });
  });
}
