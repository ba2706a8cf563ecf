import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { runTable } from '../../support/table';
import { requestsTo } from './requests';

export function removingAll(stage: Stage): void {
  const { clear, list } = requestsTo(stage);

  describe('operation 9: removing all', () => {
    runTable(stage, [
      {
        title: 'removing all needs a CSRF token',
        send: 'DELETE search/records',
        csrf: false,
        status: 403,
        error: 'CsrfError',
      },
      {
        title: 'records are created to be removed',
        send: 'POST search/records',
        json: [
          { id: 'a', total: 1 },
          { id: 'b', total: 2 },
        ],
        status: 201,
      },
      { title: 'all records are removed', send: 'DELETE search/records', status: 200, is: { success: 'deleted' } },
      { title: 'no record is left', send: 'GET search/records', status: 200, is: [] },
      {
        title: 'a search after it finds nothing',
        send: 'POST search/search',
        json: { query: 'total > 0' },
        status: 200,
        is: [],
      },
      { title: 'a new record is created', send: 'PUT search/record/c', json: { total: 3 }, status: 201 },
      {
        title: 'a search finds the new record',
        send: 'POST search/search',
        json: { query: 'total > 0' },
        status: 200,
        gives: [{ id: 'c' }],
      },
      { title: 'an empty app is emptied', send: 'DELETE linked/records', status: 200, is: { success: 'deleted' } },
    ]);

    test('other apps keep theirs', async () => {
      await stage.put('open', 'mine');
      await clear('search');
      expect(await list('open')).toContain('mine');
    });
  });
}
