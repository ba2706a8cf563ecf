import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { html } from '../../support/stage';
import { runTable } from '../../support/table';

const call = (element: string) => `POST logic/blocks/context/${element}`;

export function contextOfLogic(stage: Stage): void {
  const root = () => `${stage.host.url}/site`;

  describe('context', () => {
    test('context.app and context.block have ids and addresses', async () => {
      const { json } = await stage.send<{ blocks: string; indexes: string[] }>({ send: call('app') });
      const app = `${root()}/@@apps/logic`;
      expect(json).toMatchObject({
        id: 'logic',
        url: app,
        debug: null,
        block: { id: 'context', url: `${app}/blocks/context` },
      });
      expect(json.blocks).toContain('toplevel');
      expect(json.indexes).toContain('total');
    });

    test('a record has its items as properties, and set, delete, inc, save and delete_record', async () => {
      const { json } = await stage.send({ send: call('record') });
      const url = `${root()}/@@apps/logic/record/life`;
      expect(json).toMatchObject({
        before: { has: true, none: false, items: { total: 3, name: 'Ann', items: ['one'] }, id: 'life', url },
        after: { name: 'gone', total: 7, visits: 1, list: ['one'] },
        saved: true,
        missing: null,
        doomed: null,
      });
      const stored = await stage.items('logic', 'life');
      expect(stored).toEqual({ id: 'life', total: 7, visits: 1, items: ['one'], saved: true });
      expect(await stage.items('logic', 'doomed')).toBeNull();
    });

    test('there is no record with an id that none can have, in this app and in another', async () => {
      const none = Array.from({ length: 3 }, () => [null, false]);
      expect((await stage.send({ send: call('no_ids') })).json).toEqual([none, none]);
    });

    test('a taken id gets -1, -2; without an id, digits', async () => {
      for (const given of ['wish', 'wish-1', 'wish-2']) {
        expect((await stage.send({ send: call('names') })).json).toMatchObject({ given, digits: true });
      }
    });

    test('search, count and bound names see the writes of the request', async () => {
      await stage.send({ send: 'DELETE logic/records' });
      expect((await stage.send({ send: call('paging') })).json).toEqual({
        all: 3,
        some: 2,
        found: ['page-3', 'page-2'],
        bound: ['page-2'],
      });
    });

    test('the request is shown without credentials', async () => {
      const as = 'eric';
      const { json, text } = await stage.send<Record<string, unknown>>({
        as,
        send: `${call('request')}?a=1&b=2&b=3`,
        json: { x: [1] },
        headers: { cookie: 'apps_other=cookie-value', 'x-mark': 'here' },
      });
      expect(json).toMatchObject({
        method: 'POST',
        url: `${root()}/@@apps/logic/blocks/context/request?a=1&b=2&b=3`,
        path: '/site/@@apps/logic/blocks/context/request',
        query: { a: '1', b: ['2', '3'] },
        body: { x: [1] },
        parent: null,
      });
      expect((json.headers as Record<string, string>)['x-mark']).toBe('here');
      const { bearer } = (await stage.credential(as)) as { bearer: string };
      for (const secret of [bearer, await stage.csrf(as), 'cookie-value']) expect(text).not.toContain(secret);
    });

    runTable(stage, [
      {
        title: 'the portal is shown',
        send: call('portal'),
        status: 200,
        gives: { id: 'site', title: 'Demo site', theme: 'main' },
      },
      { title: 'an anonymous requester is no user', send: call('user'), status: 200, is: null },
      {
        title: 'the user is shown without secrets',
        as: 'eric',
        send: call('user'),
        status: 200,
        gives: { username: 'eric' },
        lacks: ['password', 'Token', '$2'],
      },
      { title: 'another app can be opened', send: call('other_app'), status: 200, is: { id: 'open', none: null } },
      {
        title: 'escape makes text of markup',
        send: call('escaped'),
        status: 200,
        is: expect.stringMatching(/^&lt;a href=&quot;x&quot;&gt;&#0?39;&amp;&#0?39;&lt;\/a&gt;$/),
      },
      { title: 'a block alone has no parameters', send: call('params'), status: 200, is: {} },
      { title: "logic imports the app's own modules", send: call('modules'), status: 200, is: 'from lib' },
      { title: 'logic can use async functions and await', send: call('later'), status: 200, is: 5 },
      {
        title: 'a file without exports has its functions as elements',
        send: 'GET logic/blocks/toplevel/value',
        status: 200,
        is: 'a function without export',
      },
      {
        title: 'logic sets the status and allowed headers',
        send: call('answer'),
        status: 203,
        is: 'told',
        answers: { 'cache-control': 'max-age=5' },
      },
      {
        title: 'logic redirects inside the site',
        send: call('inside'),
        status: 303,
        answers: { location: /\/site\/@@apps\/logic\/blocks\/context$/ },
      },
      {
        title: 'a layout sees the block, the record, Liquid and braces',
        send: 'GET logic/blocks/context',
        accept: html,
        status: 200,
        has: ['<p>block context record null</p>', '{ context.app.id }', '<p>logic noted on display</p>'],
      },
      {
        title: 'display() shows a record with its block',
        send: call('displayed'),
        status: 200,
        has: ['Displayed &lt;name&gt;', 'class=\\"small\\"'],
        lacks: ['Displayed <name>'],
      },
    ]);
  });

  describe('the response', () => {
    // The specification leaves open whether the request or the app's code is at fault.
    test.each(['forbidden_header', 'away'])('the response of the element %s is refused', async (element) => {
      const { status, headers, text } = await stage.send({ send: call(element) });
      expect([400, 500]).toContain(status);
      expect([headers.location, headers['set-cookie']]).toEqual([undefined, undefined]);
      expect(text).not.toContain('evil.example');
    });
  });
}
