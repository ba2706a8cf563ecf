import { didYouMean } from '../../did-you-mean';
import { AppsError } from '../../errors';
import type { Run } from '../run/run';
import type { Block } from '../types';
import type { Handlers } from './logic-host';

/** Maximum messages of one request, and characters of one. */
const MAX_MESSAGES = 100;
const MAX_MESSAGE = 1_000;

const wrong = (message: string) => new AppsError('BadRequestError', `context.invalid: ${message}`);

/** The handler of `context.invalid` in the logic of a block (docs/reference/logic.md#own-validation). */
export function formCalls({ refusals }: Run, { id, definition }: Block): Pick<Handlers, 'invalid'> {
  return {
    invalid({ element, message }) {
      const { elements } = definition;
      if (!refusals.isOpen) throw wrong('it can be called in validate, actions, on_save and record_id only');
      if (element !== null && !elements.has(element))
        throw wrong(`the block "${id}" has no element "${element}"${didYouMean(element, [...elements.keys()])}`);
      if (message.trim() === '') throw wrong('the message is empty');
      if (message.length > MAX_MESSAGE) throw wrong(`a message has at most ${MAX_MESSAGE} characters`);
      if (refusals.errors.length >= MAX_MESSAGES) throw wrong(`there are at most ${MAX_MESSAGES} messages`);
      refusals.errors.push({ path: element === null ? [] : [element], message });
    },
  };
}
