import { describe } from 'vitest';
import type { Stage } from '../../support/stage';
import { runTable } from '../../support/table';

export function recordsWithABlock(stage: Stage): void {
  describe('a record with a block', () => {
    runTable(stage, [
      {
        title: 'a record with a block is created',
        send: 'PUT open/record/c1',
        json: { block: 'counted', amount: 4 },
        status: 201,
      },
      {
        title: 'computed elements and on_save have run at its creation',
        send: 'GET open/record/c1',
        status: 200,
        is: { block: 'counted', amount: 4, double: 8, born: 'at 4', saves: 1, id: 'c1' },
      },
      {
        title: 'a record with a block is updated by PATCH',
        send: 'PATCH open/record/c1',
        json: { amount: 5 },
        status: 200,
      },
      {
        title: 'computed elements run at an update, COMPUTED_ON_CREATION stays',
        send: 'GET open/record/c1',
        status: 200,
        is: { block: 'counted', amount: 5, double: 10, born: 'at 4', saves: 2, id: 'c1' },
      },
      {
        title: 'a record of an unknown block is refused',
        send: 'POST open',
        json: { block: 'absent' },
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'a record whose block is no text is refused',
        send: 'POST open',
        json: { block: 5 },
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'a record cannot be changed to an unknown block',
        send: 'PATCH open/record/c1',
        json: { block: 'absent' },
        status: 400,
        error: 'BadRequestError',
      },
    ]);
  });
}
