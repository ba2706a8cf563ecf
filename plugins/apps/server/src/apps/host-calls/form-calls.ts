import { didYouMean } from '../../common/did-you-mean';
import { AppsError } from '../../common/errors';
import type { Run } from '../run/types';
import type { Block, Definition } from '../types';
import type { Handlers } from './handlers';

/** Maximum messages of one request, and characters of one. */
const MAX_MESSAGES = 100;
const MAX_MESSAGE = 1_000;

const wrong = (message: string) => new AppsError('BadRequestError', `context.invalid: ${message}`);

/** The path of an element, or of a field in an entry of a repeated group (`guests.0.name`); null if there is none. */
function pathOf({ elements }: Definition, name: string): string[] | null {
  if (elements.has(name)) return [name];
  for (const { name: group, entry } of elements.values()) {
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
export function flashCalls({ flashes }: Run): Pick<Handlers, 'flash'> {
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
export function formCalls({ refusals }: Run, { id, definition }: Block): Pick<Handlers, 'invalid'> {
  return {
    invalid({ element, message }) {
      if (!refusals.isOpen) throw wrong('it can be called in validate, actions, on_save and record_id only');
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
