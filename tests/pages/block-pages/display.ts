import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { html } from '../../support/stage';
import { runTable } from '../../support/table';
import { requestsTo } from './requests';

export function onDisplay(stage: Stage): void {
  const { get } = requestsTo(stage);

  describe('on_display', () => {
    runTable(stage, [
      {
        title: 'on_display can redirect',
        send: 'GET flow/blocks/moved',
        accept: html,
        status: 303,
        lacks: ['never seen'],
        answers: { location: /\/@@apps\/flow\/blocks\/thanks$/ },
      },
      {
        title: 'on_display can set properties for elements',
        send: 'GET flow/blocks/moved?stay=1',
        accept: html,
        status: 200,
        has: ['never seen set on display'],
      },
    ]);

    describe('on_display that redirects guards the elements too', () => {
      const away = { status: 303, lacks: ['for the chosen few'], answers: { location: /\/blocks\/thanks$/ } };
      const calls = [
        ['an element asked for as JSON', { send: 'GET flow/blocks/guarded/value' }],
        ['an element asked for as a page', { send: 'GET flow/blocks/guarded/value', accept: html }],
        ['an action asked for as JSON', { send: 'POST flow/blocks/guarded/act', json: {} }],
        ['an action asked for as a page', { send: 'POST flow/blocks/guarded/act', accept: html, form: {} }],
        ['an action of a form', { send: 'POST flow/blocks/guarded', accept: html, form: { 'action.act': '' } }],
      ] as const;
      runTable(stage, [
        ...calls.flatMap(([title, { send, ...call }]) => [
          { title, send, ...call, ...away },
          { title: `${title}, by a returned address`, send: `${send}?returned=1`, ...call, ...away },
        ]),
        { title: 'no action has run', send: 'GET flow/record/acted', status: 404 },
        {
          title: 'an element is answered when on_display does not redirect',
          send: 'GET flow/blocks/guarded/value?stay=1',
          status: 200,
          is: 'for the chosen few',
        },
      ]);
    });
  });

  describe('a failing element is contained', () => {
    runTable(stage, [
      {
        title: 'the rest of the page is whole',
        send: 'GET flow/blocks/half',
        accept: html,
        status: 200,
        has: ['before', 'the good part', 'after'],
        lacks: ['words of the bad part', 'half.js'],
      },
      {
        title: 'a manager sees what failed',
        as: 'mona',
        send: 'GET flow/blocks/half',
        accept: html,
        status: 200,
        has: ['the good part', 'words of the bad part', 'half.js'],
      },
      {
        title: 'the failing element is 500 as JSON',
        send: 'GET flow/blocks/half/bad',
        status: 500,
        error: 'LogicError',
      },
      {
        title: 'another element of the block is answered',
        send: 'GET flow/blocks/half/good',
        status: 200,
        is: 'the good part',
      },
    ]);
    const failed = ['<ul><span class="apps-error" role="alert">', '<li>no seat</li>'];
    const closed = ['<li>seat', 'Register now', 'Registration is closed'];
    const send = 'GET flow/blocks/places';
    runTable(stage, [
      {
        title: 'a loop over it has no entries, and a condition is false',
        send,
        accept: html,
        status: 200,
        has: [...failed, /^(?:(?!apps-error")[\s\S])*apps-error"(?![\s\S]*apps-error")/],
        lacks: [...closed, 'words of the seats'],
      },
      {
        title: 'a manager sees in its place what failed',
        as: 'mona',
        send,
        accept: html,
        status: 200,
        has: [...failed, /<ul><span[^>]*>[^<]*words of the seats/],
        lacks: closed,
      },
      { title: 'it is computed again', send: 'POST flow', json: { id: 'places-open' }, status: 201 },
      {
        title: 'because no cache keeps it',
        send,
        accept: html,
        status: 200,
        has: ['<ul><li>seat a1</li><li>seat a2</li></ul>', 'Register now', '<p>a1, a2</p>'],
        lacks: ['role="alert"', 'Registration is closed'],
      },
    ]);
    test('a failing element leaves an error mark', async () => {
      const { text } = await get('flow/blocks/half');
      expect(text).toMatch(/the good part\s*<[^>]+error[^>]*>[\s\S]+<p>after/);
    });
  });
}
