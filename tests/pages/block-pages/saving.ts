import { beforeEach, describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { html } from '../../support/stage';
import { runTable } from '../../support/table';
import { requestsTo } from './requests';

export function saving(stage: Stage): void {
  const { get, post, clear, ids, app } = requestsTo(stage);

  describe('_save, _edit, _delete', () => {
    beforeEach(clear);

    test("saving leads to the record's page, shown with its block", async () => {
      const saved = await post('flow/blocks/item', { name: 'First <one>', _save: '' });
      const [id = ''] = await ids();
      expect([saved.status, saved.headers.location]).toEqual([303, `${app()}/record/${id}`]);
      const page = await get(`flow/record/${id}`);
      expect(page.status).toBe(200);
      expect(page.text).toContain('Item: First &lt;one&gt;');
      expect(page.text).toMatch(/<form[^>]*name="item"/);
      expect(page.text).toContain(`action="${app()}/record/${id}"`);
      expect(await stage.items('flow', id)).toEqual({ id, name: 'First <one>', block: 'item' });
    });

    test('editing leads to the form, and saving it back to the record', async () => {
      await stage.put('flow', 'it', { block: 'item', name: 'old', other: 1 });
      const edit = await post('flow/record/it', { _edit: '' });
      expect([edit.status, edit.headers.location]).toEqual([303, `${app()}/record/it/edit`]);
      expect((await get('flow/record/it/edit')).text).toMatch(/<input[^>]*value="old"/);
      const saved = await post('flow/record/it', { name: 'new', _save: '' });
      expect([saved.status, saved.headers.location]).toEqual([303, `${app()}/record/it`]);
      expect(await stage.items('flow', 'it')).toEqual({ id: 'it', block: 'item', name: 'new', other: 1 });
    });

    test('an invalid edit changes nothing', async () => {
      await stage.put('flow', 'it', { block: 'item', name: 'old' });
      expect((await post('flow/record/it', { name: '', _save: '' })).status).toBe(422);
      expect(await stage.items('flow', 'it')).toMatchObject({ name: 'old' });
    });

    test('a record whose id ends with /edit has its own page', async () => {
      await stage.put('flow', 'a/edit', { block: 'item', name: 'whole id' });
      expect((await get('flow/record/a/edit')).text).toContain('Item: whole id');
      await stage.put('flow', 'a', { block: 'item', name: 'short id' });
      expect((await get('flow/record/a/edit')).text).toContain('Item: whole id');
      expect((await get('flow/record/a/edit/edit')).text).toMatch(/<input[^>]*value="whole id"/);
      await stage.send({ send: 'DELETE flow/record/a/edit' });
      expect((await get('flow/record/a/edit')).text).toMatch(/<input[^>]*value="short id"/);
      expect((await stage.send({ send: 'GET flow/record/a/edit' })).status).toBe(404);
    });

    test('deleting leads into the site', async () => {
      await stage.put('flow', 'it', { block: 'item', name: 'x' });
      const done = await post('flow/record/it', { _delete: '' });
      expect(done.status).toBe(303);
      expect(new URL(String(done.headers.location)).origin).toBe(stage.host.url);
      expect(await ids()).toEqual([]);
    });

    test('record_id names, on_save and on_delete lead elsewhere', async () => {
      for (const id of ['named-x', 'named-x-1', 'named-x-2']) {
        const saved = await post('flow/blocks/named', { name: 'x', _save: '' });
        expect([saved.status, saved.headers.location]).toEqual([303, `${app()}/blocks/thanks`]);
        expect(await stage.items('flow', id)).toMatchObject({ name: 'x' });
      }
      const deleted = await post('flow/record/named-x', { _delete: '' });
      expect([deleted.status, deleted.headers.location]).toEqual([303, `${app()}/blocks/thanks`]);
      expect((await ids()).sort()).toEqual(['gone-named-x', 'named-x-1', 'named-x-2']);
      expect((await get('flow/blocks/thanks')).text).toContain('Thank you, flow');
    });

    test('record_id that gives an empty text is a wrong id, and nothing is saved', async () => {
      for (const accept of [html, 'application/json']) {
        const form = { name: 'nobody', _save: '' };
        const { status, text } = await stage.send({ send: 'POST flow/blocks/named', accept, form });
        expect(status, text).toBe(400);
      }
      expect(await ids()).toEqual([]);
    });

    test('a record without a block has a plain page of its items', async () => {
      await stage.put('flow', 'bare', { title: 'A <b>', list: [1, 2], none: null });
      const { status, text } = await get('flow/record/bare');
      expect(status).toBe(200);
      for (const shown of ['bare', 'title', 'A &lt;b&gt;', 'list']) expect(text).toContain(shown);
      expect(text).not.toContain('A <b>');
      const fragment = await get('flow/record/bare', { headers: { 'x-requested-with': 'XMLHttpRequest' } });
      expect(fragment.text).toContain('A &lt;b&gt;');
      expect(fragment.text).not.toContain('<html');
    });

    runTable(stage, [
      {
        title: 'a form without its token is refused',
        send: 'POST flow/blocks/item',
        accept: html,
        form: { name: 'x', _save: '' },
        csrf: false,
        status: 403,
      },
      {
        title: 'a required field without a value is refused',
        send: 'POST flow/blocks/item',
        accept: html,
        form: { name: '', _save: '' },
        status: 422,
      },
      {
        title: 'a form of an unknown block is not found',
        send: 'POST flow/blocks/absent',
        accept: html,
        form: { _save: '' },
        status: 404,
      },
      {
        title: 'a form of an unknown record is not found',
        send: 'POST flow/record/absent',
        accept: html,
        form: { _save: '' },
        status: 404,
      },
      {
        title: 'the form of an unknown record is not found',
        send: 'GET flow/record/absent/edit',
        accept: html,
        status: 404,
      },
      { title: 'a block without a layout has no page', send: 'GET open/blocks/values', accept: html, status: 404 },
      {
        title: 'a body that is no form is refused',
        send: 'POST flow/blocks/item',
        accept: html,
        body: '<x/>',
        headers: { 'content-type': 'text/xml' },
        status: 415,
      },
    ]);

    test('the token may come as the field of the form', async () => {
      const _csrf = await stage.csrf('anonymous');
      expect((await post('flow/blocks/item', { name: 'x', _save: '', _csrf }, { csrf: false })).status).toBe(303);
      expect(
        (await post('flow/blocks/item', { name: 'x', _save: '', _csrf: `${_csrf}x` }, { csrf: false })).status,
      ).toBe(403);
    });

    test('a multipart form is saved', async () => {
      const body = ['name', '_save']
        .map((name) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\nm\r\n`)
        .join('');
      const headers = { 'content-type': 'multipart/form-data; boundary=b' };
      const answer = await stage.send({
        send: 'POST flow/blocks/item',
        accept: html,
        body: `${body}--b--\r\n`,
        headers,
      });
      expect(answer.status, answer.text).toBe(303);
      expect(await ids()).toHaveLength(1);
    });
  });
}
