import type { Items, Json } from '../../../shared/json';
import type { RunDetail, RunLog } from '../runs';
import type { Person, PersonSource, Stored } from './types';

/** Runs that this process keeps in its memory, where the database keeps none. */
export function memorySource(runs: () => Pick<RunLog, 'inMemory' | 'forget'>): PersonSource {
  return {
    async *find(person) {
      const found = runs()
        .inMemory()
        .filter((run) => isAbout(person, run));
      if (found.length > 0) yield found.map(storedOf);
    },
    erase: async (_person, { id }) => runs().forget(id),
  };
}

function isAbout({ search, user }: Person, run: RunDetail): boolean {
  if (user && run.requester.identity === user.identity) return true;
  return search?.isInValue(run as unknown as Json) ?? false;
}

const storedOf = (run: RunDetail): Stored => ({
  kind: 'runs',
  site: run.site,
  app: run.app,
  id: run.id,
  at: run.at,
  row: 0,
  does: 'delete',
  items: [],
  labels: {},
  files: [],
  contents: [],
  data: { ...run } as unknown as Items,
});
