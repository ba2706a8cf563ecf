import { expect, test } from 'vitest';
import { RecordChanges } from '../records';
import type { Items } from '../records/types';
import { changesOfApps, said } from './webhook-changes';

const key = { site: 'site', app: 'a' };

type Step = [id: string, before: Items | null, after: Items | null] | ['rename', string, string];

const listed = (steps: readonly Step[]) => {
  const changes = new RecordChanges();
  for (const [first, second, third] of steps)
    if (first === 'rename') changes.observer.onRename?.(key, String(second), String(third));
    else changes.observer.onItems?.(key, second as Items, third as Items, { id: first, creator: null });
  return changesOfApps(changes.list()).flatMap((app) =>
    app.changes.map(({ event, id, items }) => [event, id, items.n]),
  );
};

test.each<[string, Step[], unknown[]]>([
  ['nothing', [], []],
  ['a creation', [['r', null, { n: 1 }]], [['create', 'r', 1]]],
  [
    'a creation and changes',
    [
      ['r', null, { n: 1 }],
      ['r', { n: 1 }, { n: 2 }],
    ],
    [['create', 'r', 2]],
  ],
  [
    'changes',
    [
      ['r', { n: 1 }, { n: 2 }],
      ['r', { n: 2 }, { n: 3 }],
    ],
    [['update', 'r', 3]],
  ],
  [
    'a change and a deletion',
    [
      ['r', { n: 1 }, { n: 2 }],
      ['r', { n: 2 }, null],
    ],
    [['delete', 'r', 1]],
  ],
  [
    'a creation and a deletion',
    [
      ['r', null, { n: 1 }],
      ['r', { n: 1 }, null],
    ],
    [],
  ],
  ['a record that is not confirmed', [['r', null, { n: 1, _state: 'unconfirmed' }]], []],
  ['a change of one', [['r', { n: 1, _state: 'unconfirmed' }, { n: 2, _state: 'unconfirmed' }]], []],
  ['a confirmation', [['r', { n: 1, _state: 'unconfirmed' }, { n: 1 }]], [['create', 'r', 1]]],
  ['the deletion of one that was not confirmed', [['r', { n: 1, _state: 'unconfirmed' }, null]], []],
  ['a record that waits for a place', [['r', null, { n: 1, _state: 'waiting' }]], [['create', 'r', 1]]],
  [
    'a deletion and a creation',
    [
      ['r', { n: 1 }, null],
      ['r', null, { n: 2 }],
    ],
    [['update', 'r', 2]],
  ],
  [
    'a creation under another id',
    [
      ['1', null, { n: 1 }],
      ['rename', '1', 'r'],
      ['r', { n: 1 }, { n: 2 }],
    ],
    [['create', 'r', 2]],
  ],
  [
    'several records',
    [
      ['r', null, { n: 1 }],
      ['s', { n: 2 }, null],
    ],
    [
      ['create', 'r', 1],
      ['delete', 's', 2],
    ],
  ],
])('%s', (_, steps, expected) => {
  expect(listed(steps)).toEqual(expected);
});

test('apps are told apart', () => {
  const changes = new RecordChanges();
  for (const app of ['a', 'b'])
    changes.observer.onItems?.({ site: 'site', app }, null, { n: 1 }, { id: 'r', creator: null });
  expect(changes.list().map(({ key }) => key.app)).toEqual(['a', 'b']);
});

test('of a deletion that is to be forgotten others learn the block alone', () => {
  const deleted = { event: 'delete', id: 'r', creator: 'user:a', items: { block: 'b', email: 'a@b.example' } } as const;
  expect(said({ ...deleted, forgets: true })).toEqual({
    event: 'delete',
    id: 'r',
    creator: null,
    items: { block: 'b' },
  });
  expect(said({ ...deleted, items: { email: 'a@b.example' }, forgets: true }).items).toEqual({});
  expect(said({ ...deleted, forgets: false })).toEqual(deleted);
  const changed = { ...deleted, event: 'update' } as const;
  expect(said({ ...changed, forgets: true })).toEqual(changed);
});
