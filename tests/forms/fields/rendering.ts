import { describe, expect, test } from 'vitest';
import { locationOf } from '../../support/send';
import type { Stage } from '../../support/stage';
import { html } from '../../support/stage';
import { block, formOf, needed, tags } from './form';

export function rendering(stage: Stage): void {
  const { post } = formOf(stage);

  describe('rendering', () => {
    test('a form is shown with its token and every input', async () => {
      const { text } = await stage.send({ send: `GET ${block}`, accept: html });
      expect(text).toMatch(/^<!doctype html>/i);
      const form = /<form\b[^>]*>/.exec(text)?.[0] ?? '';
      expect(form).toContain('name="all"');
      expect(form).toContain('class="apps-block"');
      expect(form).toContain(`action="${stage.host.url}/site/@@apps/${block}"`);
      expect(form).toMatch(/method="post"/);
      expect(JSON.parse((/data-apps-settings='([^']*)'/.exec(form)?.[1] ?? '').replaceAll('&quot;', '"'))).toBeTypeOf(
        'object',
      );
      expect(tags(text, '_csrf')[0]).toMatch(/type="hidden"/);

      const types: Record<string, RegExp> = {
        text: /type="text".*required|required.*type="text"/,
        email: /type="email"/,
        url: /type="url"/,
        hidden: /type="hidden"/,
        number: /type="number"/,
        when: /type="datetime-local"/,
        day: /type="date"/,
        yes: /type="checkbox"/,
        radio: /type="radio"/,
        checks: /type="checkbox"/,
      };
      for (const [name, type] of Object.entries(types)) expect(tags(text, name)[0], name).toMatch(type);
      expect(tags(text, 'area')[0]).toMatch(/^<textarea/);
      expect(text).toMatch(/<textarea[^>]*>\n?a default area<\/textarea>/);
      expect(tags(text, 'choice')[0]).toMatch(/^<select/);
      expect(tags(text, 'many')[0]).toMatch(/multiple/);
      expect(tags(text, 'radio')).toHaveLength(2);
      expect(tags(text, 'checks')).toHaveLength(3);
      expect(tags(text, 'hidden')[0]).toContain('value="kept"');
      expect(tags(text, 'email')[0]).toContain('value="default@example.com"');
      expect(tags(text, 'text')[0]).toContain('placeholder="some text"');
      expect(tags(text, 'number')[0]).toMatch(/min="1".*max="10"|max="10".*min="1"/);
      expect(tags(text, '_save')[0]).toMatch(/submit|^<button/);
      for (const shown of ['Your text', 'lower case only', 'Yes?', 'First', 'Second', 'Blue sky', 'Keep it'])
        expect(text).toContain(shown);
    });

    test('BASIC is shown as given, objects escaped, braces that are no elements left alone', async () => {
      const { text } = await stage.send({ send: `GET ${block}`, accept: html });
      expect(text).toContain('<em>as given</em>');
      expect(text.match(/a &lt;title&gt;/g)).toHaveLength(2);
      expect(text).toContain('{ not an element }');
      expect(text).not.toContain('UNDEFINED ELEMENT');
      const note = await stage.send({ send: 'GET open/blocks/note', accept: html });
      expect(note.text).toContain('.note { color: red } .note::after { content: "{}" }');
    });

    test('an undeclared element is named in debug mode and in the log', async () => {
      const { text } = await stage.send({ send: 'GET debug/blocks/talk', accept: html });
      expect(text).toContain('UNDEFINED ELEMENT');
      expect(await stage.host.printed()).toMatch(/undeclared/);
    });

    test('a stored record is shown for reading and for editing', async () => {
      const made = await post({ ...needed, text: 'a <b>', choice: 'two', yes: '1', number: '3', area: 'l1\nl2' });
      const path = locationOf(made).pathname;
      const read = await stage.send({ send: `GET ${path}`, accept: html });
      expect(read.status).toBe(200);
      expect(read.text).toContain('a &lt;b&gt;');
      expect(tags(read.text, 'text')).toEqual([]);
      const edit = await stage.send({ send: `GET ${path}/edit`, accept: html });
      expect(tags(edit.text, 'text')[0]).toContain('value="a &lt;b&gt;"');
      expect(tags(edit.text, 'number')[0]).toContain('value="3"');
      expect(tags(edit.text, 'yes')[0]).toContain('checked');
      const saved = await stage.send({
        send: `POST ${path}`,
        accept: html,
        form: { ...needed, text: 'changed', number: '' },
      });
      expect(saved.status).toBe(303);
      expect((await stage.send({ send: `GET ${path}` })).json).toMatchObject({
        text: 'changed',
        number: null,
        yes: false,
      });
    });

    test('a fragment is the form alone', async () => {
      for (const asked of [
        { accept: 'text/html+fragment' },
        { accept: html, headers: { 'x-requested-with': 'XMLHttpRequest' } },
      ]) {
        const { text, headers } = await stage.send({ send: `GET ${block}`, ...asked });
        expect(text.trim()).toMatch(/^<form\b[\s\S]*<\/form>$/);
        expect(headers['content-type']).toContain('text/html');
      }
    });
  });
}
