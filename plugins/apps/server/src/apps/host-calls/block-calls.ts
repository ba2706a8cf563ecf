import type { Items } from '../../../../shared/json';
import { seesRecords } from '../../auth';
import { AppsError } from '../../common/errors';
import { didYouMean } from '../../common/text';
import { fieldsOf } from '../elements';
import { elementData } from '../run/element-data';
import { placesData } from '../run/places/rules';
import { nestedRun } from '../run/run';
import type { Run } from '../run/types';
import { permittedBlock, refusal } from '../run/visits';
import type { Block, Definition, ElementDefinition } from '../types';
import type { HostCallHandlers } from './logic-host';
import { recordOf } from './record-calls';

/** Ids of one call of `app.references()`. */
const MAX_IDS = 200;

/** An element, or `group.field` of a repeated group; names of both may have dots. */
function referenceNamed({ elements }: Definition, name: string): ElementDefinition | undefined {
  const own = elements.get(name);
  if (own) return own;
  const group = [...elements.values()].find((one) => one.kind.fields && name.startsWith(`${one.name}.`));
  return group && fieldsOf(group)?.get(name.slice(group.name.length + 1));
}

type BlockCalls = Pick<HostCallHandlers, 'blockElements' | 'blockPlaces' | 'displayBlock' | 'references' | 'refresh'>;

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
    async displayBlock({ id, record: recordId, edit }, target) {
      const { run: other, key, foreign } = target;
      if ((foreign || run.visit.dry?.isGuarded) && recordId !== null && !seesRecords(other.rights))
        throw refusal(run.visit.requester, `read records of the app "${key.app}"`);
      const record = recordId === null ? null : await recordOf(target, recordId);
      return nested.displayBlock(nestedRun(run, other.app), id, record, edit);
    },
    async references({ id, element: name, ids }, { run: other }) {
      const element = referenceNamed(permittedBlock(other, id).definition, name);
      if (!element?.kind.targets)
        throw new AppsError('BadRequestError', `The block "${id}" has no reference "${name}"`);
      const wanted = new Set([ids].flat(2).filter((one): one is string => typeof one === 'string' && one !== ''));
      if (wanted.size > MAX_IDS)
        throw new AppsError('BadRequestError', `references() takes at most ${MAX_IDS} ids, not ${wanted.size}`);
      const targets = await element.kind.targets([...wanted], element, elementData(nestedRun(run, other.app)));
      return targets.map(({ parts }) => parts);
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

/** Maximum messages of one request, and characters of one. */
const MAX_MESSAGES = 100;
const MAX_MESSAGE = 1_000;

const wrong = (message: string) => new AppsError('BadRequestError', `context.invalid: ${message}`);

/** The path of an element, or of a field in an entry of a repeated group (`guests.0.name`); null if there is none. */
function pathOf({ elements }: Definition, name: string): string[] | null {
  if (elements.has(name)) return [name];
  for (const element of elements.values()) {
    const { name: group } = element;
    const entry = fieldsOf(element);
    if (!entry || !name.startsWith(`${group}.`)) continue;
    const [, position, field = ''] = /^(\d{1,3})\.(.+)$/s.exec(name.slice(group.length + 1)) ?? [];
    if (position !== undefined && entry.has(field)) return [group, position, field];
  }
  return null;
}

/** Maximum messages of one request for its visitor, and characters of one. */
export const MAX_FLASHES = 5;
export const MAX_FLASH = 300;

/** The handler of `context.flash` (docs/reference/logic.md#messages-for-the-visitor). */
export function flashCalls({ flashes }: Run): Pick<HostCallHandlers, 'flash'> {
  const wrong = (message: string) => new AppsError('BadRequestError', `context.flash: ${message}`);
  return {
    flash({ message }) {
      if (message.trim() === '') throw wrong('the message is empty');
      if (message.length > MAX_FLASH) throw wrong(`a message has at most ${MAX_FLASH} characters`);
      if (flashes.length >= MAX_FLASHES) throw wrong(`a request has at most ${MAX_FLASHES} messages`);
      flashes.push({ text: message });
    },
  };
}

/** The handler of `context.invalid` in the logic of a block (docs/reference/logic.md#own-validation). */
export function formCalls({ refusals }: Run, { id, definition }: Block): Pick<HostCallHandlers, 'invalid'> {
  return {
    invalid({ element, message }) {
      if (!refusals.isOpen) throw wrong('it can be called in validate, actions, on_save, on_delete and record_id only');
      const path = element === null ? [] : pathOf(definition, element);
      if (path === null)
        throw wrong(
          `the block "${id}" has no element "${element}"${didYouMean(element ?? '', [...definition.elements.keys()])}`,
        );
      if (message.trim() === '') throw wrong('the message is empty');
      if (message.length > MAX_MESSAGE) throw wrong(`a message has at most ${MAX_MESSAGE} characters`);
      if (refusals.errors.length >= MAX_MESSAGES) throw wrong(`there are at most ${MAX_MESSAGES} messages`);
      refusals.errors.push({ path, message });
    },
  };
}
