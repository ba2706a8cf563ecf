import { beforeEach, describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { html } from '../../support/stage';
import { runTable } from '../../support/table';
import { requestsTo } from './requests';

export function actions(stage: Stage): void {
  const { get, post, clear, app } = requestsTo(stage);

  describe('actions', () => {
    beforeEach(clear);

    test('an action runs, and its block is shown again', async () => {
      const done = await post('flow/blocks/buttons', { 'action.add': 'Add one' });
      expect(done.status).toBe(200);
      expect(done.text).toContain('Count 1');
      expect(done.text).toMatch(/<form[^>]*class="apps-block apps-target-ajax"/);
      expect(await stage.items('flow', 'counter')).toEqual({ id: 'counter', count: 1 });
    });

    test('an action is answered with a fragment for a script', async () => {
      const { text } = await post(
        'flow/blocks/buttons',
        { 'action.add': '' },
        { headers: { 'x-requested-with': 'XMLHttpRequest' } },
      );
      expect(text.trim()).toMatch(/^<form\b[\s\S]*Count 1[\s\S]*<\/form>$/);
    });

    test('buttons are named action.<element>', async () => {
      const { text } = await get('flow/blocks/buttons');
      for (const [name, label] of Object.entries({ add: 'Add one', go: 'Go', _more: 'More' })) {
        expect(text).toMatch(new RegExp(`<(button|input)[^>]*name="action\\.${name}"[^>]*>`));
        expect(text).toContain(label);
      }
    });

    test('a returned string is a redirect', async () => {
      const { status, headers } = await post('flow/blocks/buttons', { 'action.go': '' });
      expect([status, headers.location]).toEqual([303, `${app()}/blocks/thanks`]);
    });

    test('a returned string does not redirect out of the site', async () => {
      const { status, headers, text } = await post('flow/blocks/buttons', { 'action.away': '' });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(headers.location).toBeUndefined();
      expect(text).not.toContain('evil.example');
    });

    test('an action is called by JSON', async () => {
      expect((await stage.send({ send: 'POST flow/blocks/buttons/add' })).status).toBe(200);
      expect(await stage.items('flow', 'counter')).toMatchObject({ count: 1 });
      const { json } = await stage.send({ send: 'POST flow/blocks/buttons', json: { 'action.add': '' } });
      expect(json).toEqual({ html: expect.stringMatching(/^<form[\s\S]*Count 2[\s\S]*<\/form>$/) });
    });

    test('an action may have a name that begins with "_"', async () => {
      const pressed = await post('flow/blocks/buttons', { 'action._more': '' });
      expect([pressed.status, pressed.headers.location]).toEqual([
        303,
        `${stage.host.url}/site/@@apps/flow/blocks/more`,
      ]);
      const { json } = await stage.send({ send: 'POST flow/blocks/buttons/_more' });
      expect(json).toBe('more');
      expect(await stage.items('flow', 'counter')).toMatchObject({ count: 4 });
    });

    runTable(stage, [
      ...['_save', '_edit'].flatMap((name) => [
        { title: `${name} is not found as an element`, send: `POST flow/blocks/buttons/${name}`, status: 404 },
        {
          title: `${name} is not found as an action of the block's own`,
          send: 'POST flow/blocks/buttons',
          accept: html,
          form: { [`action.${name}`]: '' },
          status: 404,
        },
      ]),
      {
        title: 'an action that is another element is not found',
        send: 'POST flow/blocks/buttons',
        accept: html,
        form: { 'action.count': '' },
        status: 404,
      },
      {
        title: 'an action that is a helper is not found',
        send: 'POST flow/blocks/buttons',
        accept: html,
        form: { 'action.counter': '' },
        status: 404,
      },
      {
        title: 'on_save is not found as an action',
        send: 'POST flow/blocks/named',
        accept: html,
        form: { 'action.on_save': '' },
        status: 404,
      },
      ...[
        ['XML', 'application/xml', '<x/>'],
        ['a text', 'text/plain', 'x'],
        ['a table', 'text/csv', 'a\nb\n'],
        ['an unknown type', 'x/y', 'x'],
        [
          'a file',
          'multipart/form-data; boundary=b',
          '--b\r\nContent-Disposition: form-data; name="x"; filename="x.txt"\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--\r\n',
        ],
      ].map(([what, type = '', body = '']) => ({
        title: `an action that is called as a page does not take ${what}`,
        send: 'POST flow/blocks/buttons/go',
        accept: html,
        body,
        headers: { 'content-type': type },
        status: 415,
      })),
      {
        title: 'an action that is called as a page takes a form',
        send: 'POST flow/blocks/buttons/go',
        accept: html,
        form: { x: '1' },
        status: 303,
      },
      {
        title: 'an action that is called as a page needs no body',
        send: 'POST flow/blocks/buttons/go',
        accept: html,
        status: 303,
      },
      {
        title: 'an action needs a CSRF token',
        send: 'POST flow/blocks/buttons',
        accept: html,
        form: { 'action.add': '' },
        csrf: false,
        status: 403,
      },
      { title: 'a refused action has changed nothing', send: 'GET flow/record/counter', status: 404 },
    ]);
  });
}
