import type { Json } from '../../../../shared/json';
import type { Region } from '../../common/time/moments';
import { shortWork } from '../../common/time/pace';
import type { Message, ServiceMessage } from '../locales';
import type { PatternWork } from '../patterns';
import type { ElementDefinition } from '../types';
import { optionsToRead } from './choice-types';
import { readFileItem } from './file-fields';
import { textsCompared, textsShown } from './parts';
import type { Read, ReadRequest } from './types';

/**
 * Reads what a form has sent for an input: the value that the record will have, or what is wrong with it; undefined for an element that
 * takes nothing. Of a field that its sender has left alone the stored value stays.
 */
export async function readInput(
  element: ElementDefinition,
  submitted: readonly string[],
  request: ReadRequest,
): Promise<Read | undefined> {
  const { kind } = element;
  const { field, shown, work, region } = request;
  const options = optionsToRead(request.options.get(field.replace(':', '_')) ?? [], shown);
  const result = kind.files
    ? await readFileItem(element, submitted, request)
    : await shortWork(() => kind.read?.(submitted, element, { options, work, request }));
  // A repeated group keeps the values of its fields.
  if (!result || kind.fields || 'wrong' in result) return result;
  const kept = keptValue(element, { submitted, shown, result, region });
  return kept === undefined ? result : { value: kept };
}

/**
 * Reads texts that no form has sent, of a default or of a draft; undefined for an element whose type reads none.
 * @param work the budget of patterns; undefined: unbounded
 */
export function readAlone(
  element: ElementDefinition,
  submitted: readonly string[],
  work?: PatternWork,
): Read | undefined {
  const { kind } = element;
  const options = kind.options?.(element) ?? [];
  const read = kind.read?.(submitted, element, { options, work, request: null });
  if (read instanceof Promise)
    throw new TypeError(`The type ${element.type} must read a value without a request at once`);
  return read;
}

/** Messages about values that their element cannot have been given: of another kind, or options that are no longer offered. */
const OF_ANOTHER_KIND: ReadonlySet<ServiceMessage> = new Set<ServiceMessage>([
  'number',
  'number_exact',
  'date',
  'datetime',
  'time',
  'choose_one',
  'choose_known',
  'reference_gone',
  'reference_most',
  'file_most',
]);

/** Whether a message is about a value that its element cannot show. */
export const isOfAnotherKind = ({ key }: Message): boolean => OF_ANOTHER_KIND.has(key);

interface LeftAlone {
  submitted: readonly string[];
  /** The stored value that the form has shown; undefined where it has shown none. */
  shown: Json | undefined;
  /** What the element has read. */
  result: { value: Json } | { error: Message };
  region: Region;
}

/**
 * The stored value of a field that a form has sent as it has shown it; undefined for another one. Its control may not be able
 * to show it, and what it sends would then be another value. Rules of the definition, such as `required`, hold all the same.
 */
function keptValue(element: ElementDefinition, { submitted, shown, result, region }: LeftAlone): Json | undefined {
  if (shown === undefined) return undefined;
  if ('error' in result && !isOfAnotherKind(result.error)) return undefined;
  const texts = textsShown(element, shown, region);
  const sent = textsCompared(element, submitted);
  return texts.length === sent.length && texts.every((text, at) => text === sent[at]) ? shown : undefined;
}
