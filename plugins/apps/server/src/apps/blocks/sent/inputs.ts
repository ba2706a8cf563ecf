import { createHash } from 'node:crypto';
import { type Items, isItems, itemOf, type Json } from '../../../../../shared/json';
import type { Region } from '../../../common/time/moments';
import type { StoredRecord } from '../../../records/types';
import {
  boundsOf,
  entriesSent,
  entriesShown,
  type FileSources,
  type FormFields,
  fieldsOf,
  isOfFiles,
  keptFileFields,
  MAX_ENTRIES,
  markOf,
  pageFields,
  type ReservedField,
  roleOf,
  type SentEntries,
  type ShownAgain,
  type ShownEntry,
  sentEntries,
  storedEntries,
  textsCompared,
  textsIn,
  textsOf,
  textsOfValue,
  textsShown,
  type WrongField,
} from '../../elements';
import { type Message, message } from '../../locales';
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

/**
 * Whether a form that is shown again holds anything that its visitor has entered, and not only what its fields show before.
 * @param usual the value that an input has before
 */
export async function holdsEntries(
  { definition }: Block,
  { entered, repeats }: Pick<Entries, 'entered' | 'repeats'>,
  usual: (name: string) => Promise<Json>,
  region: Region,
): Promise<boolean> {
  const differs = (element: ElementDefinition, texts: readonly string[], value: Json): boolean =>
    textsCompared(element, texts).join('\0') !== textsShown(element, value, region).join('\0');
  const differ = (group: ElementDefinition, entries: readonly ShownEntry[], value: Json): boolean => {
    const before = storedEntries(value);
    const fields = [...(fieldsOf(group)?.values() ?? [])];
    const shownAt = (at: number, { name, default: given }: ElementDefinition): Json =>
      before[at] ? itemOf(before[at], name) : (given ?? null);
    return (
      entries.length !== Math.max(before.length, boundsOf(group).min) ||
      entries.some((entry, at) =>
        fields.some((field) => differs(field, entry?.get(field.name) ?? [], shownAt(at, field))),
      )
    );
  };
  for (const [name, texts] of entered) {
    const element = definition.elements.get(name);
    if (!element) continue;
    const [entries, value] = [repeats.get(name), await usual(name)];
    if (entries ? differ(element, entries, value) : differs(element, texts, value)) return true;
  }
  return false;
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

/** A form as it was sent, or items as a form that sends them, for the checks that a form passes. */
export interface SentFields {
  /** What a browser would send: texts and lists of texts, entries of repeated groups as `<group>:<number>:<field>`. */
  fields: FormFields;
  /** Inputs whose JSON values are of another type, with what is wrong. */
  wrong: ReadonlyMap<string, readonly WrongField[]>;
  /** The items that were sent, of which these inputs have no texts. */
  items?: Items;
  /** Files of the media library that a form sent as JSON may name. */
  named?: FileSources['named'];
  /** Inputs that keep their stored values: they are not read. */
  kept?: ReadonlySet<string>;
}

/**
 * The inputs of a block as a form would send them that shows them all. An input without an item is what a browser sends for an
 * empty control. New files come by a form only: items name those that are in the media library already.
 * @param sources the files that may be named
 */
export function fieldsOfItems(block: Block, items: Items, sources: FileSources): SentFields {
  const fields = new Map<string, readonly string[]>();
  const wrong = new Map<string, WrongField[]>();
  const refuse = (path: string[], problem: Message) => {
    const name = path[0] ?? '';
    wrong.set(name, [...(wrong.get(name) ?? []), { path, message: problem }]);
  };
  const add = (field: string, path: string[], found: readonly string[] | Message) => {
    if ('key' in found) refuse(path, found);
    else if (found.length > 0) fields.set(field, found);
  };
  const textsOf = (field: string, element: ElementDefinition, value: Json) =>
    isOfFiles(element) ? keptFileFields(field, value, sources) : textsOfValue(element, value);

  for (const element of shownInputs(block, () => true)) {
    const { name } = element;
    const entry = fieldsOf(element);
    const value = itemOf(items, name);
    if (!entry) add(name, [name], textsOf(name, element, value));
    else if (value !== null && !(Array.isArray(value) && value.every(isItems))) refuse([name], message('entries_list'));
    // One more than is allowed is enough to say so.
    else
      for (const [at, one] of ((value ?? []) as Items[]).slice(0, MAX_ENTRIES.allowed + 1).entries()) {
        const path = (field: string) => [name, String(at), field];
        for (const field of entry.values())
          add(
            `${name}:${at}:${field.name}`,
            path(field.name),
            textsOf(`${name}:${field.name}`, field, itemOf(one, field.name)),
          );
        for (const field of Object.keys(one)) if (!entry.has(field)) refuse(path(field), message('unknown_item'));
      }
  }
  const texts = [...fields].map(([name, list]) => [name, list.length === 1 ? list[0] : list]);
  return { fields: Object.fromEntries(texts), wrong, items };
}

/**
 * A form that was sent as JSON: its values as texts, and in `form` what a browser would have sent, for `context.request.form`.
 * What is no input of the form, such as its buttons, stays.
 * @param options.strict whether unknown fields in entries of repeated groups are wrong; otherwise they are left out, as of any form
 * @param options.named files that it may name, besides those of `options.items`, the items of the record that it changes
 */
export function formOfJson(
  block: Block,
  body: Items,
  shows: (name: string) => boolean,
  { strict, named, items }: { strict: boolean } & Pick<FileSources, 'named' | 'items'>,
): SentFields & { form: Items } {
  const inputs = new Set(shownInputs(block, shows).map(({ name }) => name));
  const isSent = ([field]: [string, unknown]) => {
    const [name = ''] = field.split(':', 1);
    return inputs.has(name) && Object.hasOwn(body, name);
  };
  const { fields, wrong } = fieldsOfItems(block, body, { files: undefined, items, named });
  const others = Object.fromEntries(Object.entries(body).filter(([name]) => !inputs.has(name)));
  const sent = Object.fromEntries(Object.entries(fields).filter(isSent));
  const counts = (one: WrongField) => strict || one.message.key !== 'unknown_item';
  const refused = new Map(
    [...wrong].flatMap(([name, problems]): [string, WrongField[]][] => {
      const left = inputs.has(name) ? problems.filter(counts) : [];
      return left.length > 0 ? [[name, left]] : [];
    }),
  );
  return {
    fields: { ...others, ...sent },
    wrong: refused,
    items: body,
    named,
    form: { ...others, ...fields } as Items,
  };
}

/** The fields of a form by which the entries of repeated groups say which stored entry they show. @param items stored ones */
export const entryMarks = ({ definition }: Block, items: Items): Record<string, string> =>
  Object.fromEntries(
    Object.entries(items).flatMap(([name, value]) =>
      definition.elements.get(name)?.kind.fields
        ? storedEntries(value).map((_, at) => [`${name}:${at}`, markOf(at)])
        : [],
    ),
  );

/** The hidden field of a record's form: the version that it shows, and digests of what its fields show. */
export const VERSION = '_version' satisfies ReservedField;

/** Characters of the field, with which a form of as many fields as a definition may have has room. */
const MAX_LENGTH = 100_000;

/** The version of the record that a form shows. */
export interface FormVersion {
  /** `<seq>-<version>`, as in the record's ETag. */
  tag: string;
  /** Digests of what the fields show, by element. */
  digests: ReadonlyMap<string, string>;
}

type Version = Pick<StoredRecord, 'seq' | 'version'>;

export const tagOf = ({ seq, version }: Version): string => `${seq}-${version}`;

/**
 * The version of a record that a posted form names; null without one. A page may show forms of several records in one, whose
 * `seq` tells them from each other, and from a record that had the same id before.
 */
export function versionIn(fields: FormFields, record: Version): FormVersion | null {
  const sent = textsOf(Object.hasOwn(fields, VERSION) ? fields[VERSION] : undefined);
  const text = sent.find((one) => one.startsWith(`${record.seq}-`) && one.length <= MAX_LENGTH);
  if (text === undefined) return null;
  const [tag = '', rest = ''] = text.split('.', 2);
  return { tag, digests: new Map(new URLSearchParams(rest)) };
}

export const versionText = (record: Version, digests: Iterable<[string, string]>): string =>
  `${tagOf(record)}.${new URLSearchParams([...digests])}`;

const digestOf = (shown: unknown): string =>
  createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, 10);

/** A digest of what a form sends for an element of this stored value where its sender leaves it alone. */
export const storedDigest = (element: ElementDefinition, value: Json, region: Region): string =>
  digestOf(element.kind.fields ? entriesShown(element, value, region) : textsShown(element, value, region));

/** The same of what was sent. @param entries of a repeated group */
export const sentDigest = (
  element: ElementDefinition,
  submitted: readonly string[],
  entries: SentEntries | undefined,
): string => digestOf(element.kind.fields ? entriesSent(element, entries) : textsCompared(element, submitted));
