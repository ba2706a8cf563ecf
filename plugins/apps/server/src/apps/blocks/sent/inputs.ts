import {
  type FormFields,
  MAX_ENTRIES,
  pageFields,
  roleOf,
  type SentEntries,
  type ShownAgain,
  type ShownEntry,
  sentEntries,
  textsIn,
  textsOf,
} from '../../elements';
import type { FormError } from '../../run/refusals';
import type { Block, ElementDefinition, FormPage } from '../../types';
import { pagesByElement, seenPages } from './pages';

/** What a form shows again: the submitted entries, and what was wrong with them. */
export interface Entries extends ShownAgain {
  /** Submitted entries by element. */
  entered: ReadonlyMap<string, readonly string[]>;
  errors: readonly FormError[];
}

/**
 * The entries of a form that is shown again; null where none of the inputs that the layout shows was sent, so that they
 * have their usual values.
 */
export function enteredIn(
  block: Block,
  fields: FormFields,
  shows: (name: string) => boolean,
  pages: readonly FormPage[] = [],
): Pick<Entries, 'entered' | 'repeats'> | null {
  const seen = pages.length > 0 ? seenPages(fields, pages.length) : null;
  const pageOf = pagesByElement(block.definition, pages);
  const isUnseen = ({ name }: ElementDefinition) => {
    const page = pageOf.get(name);
    return page !== undefined && seen?.has(page) === false;
  };
  // Fields of a page that was not shown yet have their usual values.
  const inputs = shownInputs(block, shows).filter((element) => !isUnseen(element));
  const sent = sentEntries(block.definition, fields);
  const isSent = ({ name }: ElementDefinition) =>
    Object.hasOwn(fields, name) || (sent.get(name)?.entries.length ?? 0) > 0;
  // A page whose boxes are all unchecked sends none of them.
  const isPage = pages.length > 0 && Object.hasOwn(fields, pageFields.page);
  return isPage || inputs.some(isSent)
    ? { entered: entriesOf(inputs, fields, sent), repeats: repeatsOf(inputs, sent) }
    : null;
}

/** The inputs that a form of the block may set and its layout shows. */
export function shownInputs(block: Block, shows: (name: string) => boolean): ElementDefinition[] {
  return [...block.definition.elements.values()].filter((element) => isEntered(element) && shows(element.name));
}

/** The texts of each input; of a repeated group those of all its entries. */
export const entriesOf = (
  inputs: readonly ElementDefinition[],
  fields: FormFields,
  sent: ReadonlyMap<string, SentEntries>,
): Map<string, string[]> =>
  new Map(
    inputs.map(({ name, kind }) => {
      if (kind.fields) return [name, (sent.get(name)?.entries ?? []).flatMap(textsIn)];
      return [name, textsOf(Object.hasOwn(fields, name) ? fields[name] : undefined)];
    }),
  );

/** Entries that a form shows again, as far as a form could have sent them. */
export const repeatsOf = (inputs: readonly ElementDefinition[], sent: ReadonlyMap<string, SentEntries>) =>
  new Map(
    inputs.flatMap(({ name, kind }): [string, readonly ShownEntry[]][] =>
      kind.fields ? [[name, (sent.get(name)?.entries ?? []).slice(0, MAX_ENTRIES.allowed)]] : [],
    ),
  );

/** Whether a form may set the element. An element "block" is declared for its index: no form takes a record out of its block. */
function isEntered(element: ElementDefinition): boolean {
  return roleOf(element) === 'input' && !element.mode && !element.readonly && element.name !== 'block';
}
