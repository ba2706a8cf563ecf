import { beforeAll, describe } from 'vitest';
import type { Stage } from '../../support/stage';
import { html, type Row } from '../../support/stage';
import { runTable } from '../../support/table';
import type { Form } from './requests';

export function rightsOfRecordPages(stage: Stage): void {
  describe('rights of a record page', () => {
    beforeAll(async () => {
      await stage.put('rights', 'annas', { block: 'form', name: 'private words' }, 'anna');
    });
    const page = (as: string, status: number): Row => ({
      title: 'the page of a record',
      as,
      send: 'GET rights/record/annas',
      accept: html,
      status,
    });
    const submit = (as: string, form: Form, status: number): Row => ({
      title: `a form with ${Object.keys(form).join(' and ')}`,
      as,
      send: 'POST rights/record/annas',
      accept: html,
      form,
      status,
    });
    runTable(stage, [
      { ...page('anonymous', 401), has: ['@@login'], lacks: ['private words'], answers: { 'www-authenticate': null } },
      { ...page('sam', 403), lacks: ['private words'] },
      { ...page('rita', 200), has: ['private words'], lacks: ['name="_edit"', 'name="_delete"'] },
      { ...page('abel', 200), has: ['private words'], lacks: ['name="_edit"', 'name="_delete"'] },
      { ...page('anna', 200), has: ['name="_edit"', 'name="_delete"'] },
      { ...page('eric', 200), has: ['name="_edit"', 'name="_delete"'] },
      {
        title: 'the form of a record is refused to a reader',
        as: 'rita',
        send: 'GET rights/record/annas/edit',
        accept: html,
        status: 403,
      },
      {
        title: 'the form of a record is shown to its author',
        as: 'anna',
        send: 'GET rights/record/annas/edit',
        accept: html,
        status: 200,
      },
      submit('anonymous', { name: 'x', _save: '' }, 401),
      submit('rita', { name: 'x', _save: '' }, 403),
      submit('abel', { name: 'x', _save: '' }, 403),
      submit('abel', { _delete: '' }, 403),
      submit('anna', { name: 'mine', _save: '' }, 303),
      submit('eric', { name: 'edited', _save: '' }, 303),
      submit('eric', { _delete: '' }, 303),
    ]);
  });

  describe('a form says before who may send it', () => {
    const form = (as: string, send: string, more: Partial<Row>): Row => ({
      title: 'a form that its requester may not send',
      as,
      send,
      accept: html,
      status: 200,
      ...more,
    });
    const note = 'class="apps-note"';
    const button = /<button type="submit" name="_save" value="1" class="apps-action">Save/;
    const disabled = /<button type="submit" name="_save" value="1" class="apps-action" disabled>Save/;
    const forbidden = '<p class="apps-note">You may not send this form.</p>';
    const login = (page: string) =>
      new RegExp(
        `<form [^>]*>(?:<input type="hidden"[^>]*>|<div hidden>.*?</div>)*<p class="apps-note">Please log in to send this form. ` +
          `<a href="[^"]+/site/@@login\\?next=${page}">Log in</a></p>`,
      );
    runTable(stage, [
      form('anonymous', 'GET rights/blocks/form?a=1', {
        has: [login('%2Fsite%2F%40%40apps%2Frights%2Fblocks%2Fform%3Fa%3D1'), button],
      }),
      form('rita', 'GET rights/blocks/form', { has: [forbidden, disabled] }),
      form('sam', 'GET rights/blocks/form', { title: 'one that they may send', has: [button], lacks: [note] }),
      form('mona', 'GET rights/blocks/form', { title: 'one that a manager may send', has: [button], lacks: [note] }),
      form('anonymous', 'GET flow/blocks/item', {
        title: 'one that all may send',
        has: ['name="_save"'],
        lacks: [note],
      }),
      form('anonymous', 'GET flow/blocks/nosave', { title: 'one that saves nothing', lacks: [note] }),
      form('anonymous', 'GET guarded/blocks/free', { title: 'a block without a form', lacks: [note] }),
      // The rendering that anonymous visitors share.
      ...['1', '2', '1'].map((n) =>
        form('anonymous', `GET rights/blocks/shared?n=${n}`, { has: [login(`[^"]+shared%3Fn%3D${n}`), button] }),
      ),
      form('sam', 'GET rights/blocks/shared?n=1', { title: 'one that others share', has: [button], lacks: [note] }),
      form('rita', 'GET rights/blocks/shared?n=1', { has: [forbidden, disabled] }),
    ]);
  });
}
