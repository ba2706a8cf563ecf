import type { Items } from '../../../shared/json';
import type { LogicHost } from '../logic/types';
import type { AppKey } from '../records/types';
import { nestedRun, permittedBlock, type Run, refusal } from './run';

/** The app that a call is about, with the run whose rights count there. */
interface Target {
  run: Run;
  key: AppKey;
  foreign: boolean;
}

/** Calls of logic about the blocks and the indexes of its own app or another one. */
export function blockCalls(
  run: Run,
  open: (app: string | null) => Promise<Target>,
  requireWrites: () => void,
): Pick<LogicHost, 'blockElements' | 'displayBlock' | 'refresh'> {
  const { nested, store, logger } = run.services;
  return {
    async blockElements(app, id) {
      const target = await open(app);
      return permittedBlock(target.run, id).definition.source.elements as Items;
    },
    async displayBlock(app, id, recordId, edit) {
      const { run: other, key, foreign } = await open(app);
      if (foreign && recordId !== null && !other.rights.view)
        throw refusal(run.visit.requester, `read records of the app "${key.app}"`);
      const record = recordId === null ? null : await run.unit.get(key, recordId);
      return nested.displayBlock(nestedRun(run, other.app), id, record, edit);
    },
    async refresh(app, rebuild) {
      const { run: other, key } = await open(app);
      if (!other.rights.manager) throw refusal(run.visit.requester, `rebuild the indexes of the app "${key.app}"`);
      requireWrites();
      const { indexes } = other.app;
      // After the commit, and the answer does not wait for it: it may take minutes, and searches are right meanwhile.
      run.unit.afterCommit(() => {
        store.refresh(key, indexes, { rebuild }).catch((error: unknown) => {
          logger.error(`[apps] ${key.app}: the indexes were not built again: ${String(error)}`);
        });
      });
      return [...new Set([...indexes.keys(), 'id'])].sort();
    },
  };
}
