import type { Items } from '../../../../shared/json';
import { seesRecords } from '../../auth';
import { AppsError } from '../../common/errors';
import { permittedBlock, refusal } from '../run/permitted-block';
import { placesData } from '../run/places/state';
import { nestedRun } from '../run/run';
import type { Run } from '../run/types';
import type { Definition, ElementDefinition } from '../types';
import type { Handlers } from './handlers';

/** Ids of one call of `app.references()`. */
const MAX_IDS = 200;

/** An element, or `group.field` of a repeated group; names of both may have dots. */
function referenceNamed({ elements }: Definition, name: string): ElementDefinition | undefined {
  const own = elements.get(name);
  if (own) return own;
  const group = [...elements.values()].find((one) => one.entry && name.startsWith(`${one.name}.`));
  return group?.entry?.get(name.slice(group.name.length + 1));
}

type BlockCalls = Pick<Handlers, 'blockElements' | 'blockPlaces' | 'displayBlock' | 'references' | 'refresh'>;

/** Host functions for blocks and indexes of the run's own app or another one. */
export function blockCalls(run: Run): BlockCalls {
  const { nested, store, logger } = run.services;
  return {
    async blockElements({ id }, target) {
      return permittedBlock(target.run, id).definition.source.elements as Items;
    },
    async blockPlaces({ id }, { run: other }) {
      return placesData(run, other.app, permittedBlock(other, id));
    },
    async displayBlock({ id, record: recordId, edit }, { run: other, key, foreign, creator }) {
      if ((foreign || run.visit.dry?.isGuarded) && recordId !== null && !seesRecords(other.rights))
        throw refusal(run.visit.requester, `read records of the app "${key.app}"`);
      const record = recordId === null ? null : await run.unit.get(key, recordId, creator);
      return nested.displayBlock(nestedRun(run, other.app), id, record, edit);
    },
    async references({ id, element: name, ids }, { run: other }) {
      const element = referenceNamed(permittedBlock(other, id).definition, name);
      if (element?.type !== 'REFERENCE')
        throw new AppsError('BadRequestError', `The block "${id}" has no reference "${name}"`);
      const wanted = new Set([ids].flat(2).filter((one): one is string => typeof one === 'string' && one !== ''));
      if (wanted.size > MAX_IDS)
        throw new AppsError('BadRequestError', `references() takes at most ${MAX_IDS} ids, not ${wanted.size}`);
      return nested.references(nestedRun(run, other.app), element, [...wanted]);
    },
    async refresh({ rebuild }, { run: other, key }) {
      const { indexes } = other.app;
      // After the commit, without keeping the answer waiting: it may take minutes, and searches stay correct meanwhile.
      run.unit.afterCommit(() => {
        store.refresh(key, indexes, { rebuild }).catch((error: unknown) => {
          logger.error(`[apps] ${key.app}: the indexes were not built again: ${String(error)}`);
        });
      });
      return [...new Set([...indexes.keys(), 'id'])].sort();
    },
  };
}
