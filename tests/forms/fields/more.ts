import { describe, expect, test } from 'vitest';
import { locationOf } from '../../support/send';
import type { Stage } from '../../support/stage';
import { html } from '../../support/stage';
import { type Form, tags } from './form';

const more = 'forms/blocks/more';
const filled: Form = { at: '09:30', notes: '# Hello\n\n<script>x</script>', kind: 'a', _save: '' };

export function moreFields(stage: Stage): void {
  const post = (path: string, form: Form) => stage.send({ send: `POST ${path}`, accept: html, form });
  const create = async (form: Form = filled) => {
    const made = await post(more, form);
    expect(made.status).toBe(303);
    return locationOf(made).pathname;
  };

  describe('more fields', () => {
    test('show their keys, and what is required', async () => {
      const { text } = await stage.send({ send: `GET ${more}`, accept: html });
      expect(tags(text, 'at')[0]).toMatch(/type="time" value="" required min="08:00" max="18:00"/);
      expect(tags(text, 'phone')[0]).toMatch(/type="tel".*autocomplete="tel" inputmode="tel"/);
      expect(tags(text, 'notes')[0]).toMatch(/^<textarea.*rows="5"/);
      expect(tags(text, 'fixed')[0]).toMatch(/value="by the server".*readonly/);
      expect(text).toContain('class="apps-field wide"');
      expect(text.match(/class="apps-required"/g)).toHaveLength(1);
      expect(text).toContain('><option value="a">a</option><option value="b" selected>');
      expect(text).toContain('<p><strong>bold</strong> &lt;i&gt;</p>');
    });

    test('show Markdown as safe HTML', async () => {
      const { text } = await stage.send({ send: `GET ${await create()}`, accept: html });
      expect(text).toContain('<h1>Hello</h1>');
      expect(text).toContain('&lt;script&gt;');
      expect(text).not.toContain('<script>x');
    });

    test('a readonly field keeps what the server gave it', async () => {
      const path = await create({ ...filled, fixed: 'mine' });
      await post(path, { ...filled, fixed: 'mine', at: '10:00' });
      const { json } = await stage.send({ send: `GET ${path}` });
      expect(json).toMatchObject({ fixed: 'by the server', at: '10:00' });
    });

    test('a deletion with a question needs the answer', async () => {
      const path = await create();
      const asked = await post(path, { _delete: '1', notes: 'kept "note"' });
      expect(asked.status).toBe(200);
      expect(asked.text).toContain('Delete it for good?');
      expect(tags(asked.text, 'notes')[0]).toContain('type="hidden" name="notes" value="kept &quot;note&quot;"');
      expect((await stage.send({ send: `GET ${path}` })).status).toBe(200);
      const deleted = await post(path, { _delete: '1', _confirm: '_delete' });
      expect(deleted.status).toBe(303);
      expect((await stage.send({ send: `GET ${path}` })).status).toBe(404);
    });

    test('an action with a question runs after the answer, and at once for a JSON client', async () => {
      const asked = await post(more, { 'action.warn': '1', _confirm: '_delete' });
      expect([asked.status, asked.text.includes('Really &lt;warn&gt;?')]).toEqual([200, true]);
      expect((await post(more, { 'action.warn': '1', _confirm: 'warn' })).status).toBe(303);
      const json = { send: `POST ${more}`, accept: 'application/json', form: { 'action.warn': '1' } };
      expect((await stage.send(json)).status).toBe(303);
    });
  });
}
