import { expect, test } from 'vitest';
import type { HistoryVersion } from '../../../records';
import type { Run } from '../../run/types';
import { undoneBy } from './restore';

/** A record whose title one requester has changed, and another one changes as soon as it, or its later versions, are looked at. */
function looksAt() {
  const record = { id: 'r', seq: 1, creator: null, version: 2, items: { title: 'mine' } };
  const own: Omit<HistoryVersion, 'items'> & { items: typeof record.items } = {
    ...{ version: 7, id: 'r', creator: null, at: 1, by: 'user:1', through: 'json', items: record.items },
    earlier: { set: { title: 'before' }, added: [] },
  };
  const changes = [own];
  const change = () => {
    if (changes.length > 1) return;
    changes.push({ ...own, version: 8, by: 'user:2', earlier: { set: { title: 'mine' }, added: [] } });
    Object.assign(record, { version: 3, items: { title: 'other' } });
  };
  const looked = <T>(seen: T): T => {
    change();
    return seen;
  };
  const got: number[] = [];
  const run = {
    app: { id: 'app', settings: { history: true } },
    visit: { site: { id: 'site' } },
    rights: { edit: () => true },
    unit: {
      alongside: (work: () => unknown) => work(),
      async get() {
        got.push(record.version);
        return looked({ ...record });
      },
    },
    services: {
      history: {
        page: async () => ({ versions: [own], isLast: true }),
        later: async () => looked(changes.filter(({ version }) => version > 7)),
      },
    },
  } as unknown as Run;
  return { run, got };
}

test('undoing knows of a change that another one makes meanwhile, or has read the record before it', async () => {
  const { run, got } = looksAt();
  const { records } = await undoneBy(run, { requester: 'user:1', since: 0 });
  const isPlanned = records.some(({ later }) => later.length > 0);
  // The commit finds that the record has another version than was read.
  expect(isPlanned || got[0] === 2).toBe(true);
});
