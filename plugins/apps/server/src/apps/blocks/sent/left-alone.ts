import type { Json } from '../../../../../shared/json';
import type { Region } from '../../../common/values/moments';
import { textsCompared, textsShown } from '../../elements';
import type { Message, ServiceMessage } from '../../locales';
import type { ElementDefinition } from '../../types';

/** Messages about values that their element cannot have been given: of another kind, or options that are no longer offered. */
const OF_ANOTHER_KIND: ReadonlySet<ServiceMessage> = new Set<ServiceMessage>([
  'number',
  'date',
  'datetime',
  'time',
  'choose_one',
  'choose_known',
  'reference_gone',
  'reference_most',
  'file_most',
]);

interface LeftAlone {
  submitted: readonly string[];
  /** The stored value; undefined where there is none. */
  stored: Json | undefined;
  /** What the element has read. */
  result: { value: Json } | { error: Message };
  region: Region;
}

/**
 * The stored value of a field that a form has sent as it has shown it; undefined for another one. Its control may not be able
 * to show it, and what it sends would then be another value. Rules of the definition, such as `required`, hold all the same.
 */
export function keptValue(
  element: ElementDefinition,
  { submitted, stored, result, region }: LeftAlone,
): Json | undefined {
  if (stored === undefined) return undefined;
  if ('error' in result && !OF_ANOTHER_KIND.has(result.error.key)) return undefined;
  const shown = textsShown(element, stored, region);
  const sent = textsCompared(element, submitted);
  return shown.length === sent.length && shown.every((text, at) => text === sent[at]) ? stored : undefined;
}
