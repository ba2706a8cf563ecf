import { createHash } from 'node:crypto';
import { type Items, isItems, itemOf, type Json } from '../../../../../shared/json';
import type { Region } from '../../../common/values/moments';
import type { StoredRecord } from '../../../records/types';
import { isShown, textsCompared, textsShown } from '../../elements';
import type { ElementDefinition } from '../../types';
import { type FormFields, type SentEntry, textsOf } from './form';
import type { SentEntries } from './sent-entries';

/** The hidden field of a record's form: the version that it shows, and digests of what its fields show. */
export const VERSION = '_version';

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
  digestOf(element.entry ? entriesShown(element, value, region) : textsShown(element, value, region));

/** The same of what was sent. @param entries of a repeated group */
export const sentDigest = (
  element: ElementDefinition,
  submitted: readonly string[],
  entries: SentEntries | undefined,
): string => digestOf(element.entry ? entriesSent(element, entries) : textsCompared(element, submitted));

type Texts = [name: string, texts: readonly string[]][];

const isFilled = (fields: Texts): boolean => fields.some(([, texts]) => texts.some((text) => text !== ''));

/** The entries of a group in a form, without blank ones, and without fields whose condition is not met: a browser may leave these out. */
const filledEntries = <T>(
  { entry }: ElementDefinition,
  entries: readonly T[],
  {
    valueFor,
    texts,
  }: { valueFor(one: T, name: string): Json; texts(one: T, field: ElementDefinition): readonly string[] },
): Texts[] =>
  entries
    .map((one) =>
      [...(entry?.values() ?? [])]
        .filter((field) => isShown(field, (name) => valueFor(one, name)))
        .map((field): Texts[number] => [field.name, texts(one, field)]),
    )
    .filter(isFilled);

const entriesShown = (element: ElementDefinition, value: Json, region: Region): Texts[] =>
  filledEntries<Items>(element, storedEntries(value), {
    valueFor: itemOf,
    texts: (items, field) => textsShown(field, itemOf(items, field.name), region),
  });

const entriesSent = (element: ElementDefinition, sent: SentEntries | undefined): Texts[] =>
  filledEntries<SentEntry>(element, sent?.entries ?? [], {
    valueFor: (entry, name) => [...(entry.get(name) ?? [])],
    texts: (entry, field) => textsCompared(field, entry.get(field.name) ?? []),
  });

/** The entries of a stored value that a form shows. */
export const storedEntries = (value: Json | undefined): Items[] => (Array.isArray(value) ? value.filter(isItems) : []);
