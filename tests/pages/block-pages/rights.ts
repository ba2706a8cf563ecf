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
}
