import { createHash } from 'node:crypto';
import type { Json } from '../../../../../shared/json';
import type { Region } from '../../../common/values/moments';
import type { StoredRecord } from '../../../records/types';
import {
  entriesSent,
  entriesShown,
  type FormFields,
  type SentEntries,
  textsCompared,
  textsOf,
  textsShown,
} from '../../elements';
import type { ElementDefinition } from '../../types';

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
  digestOf(element.kind.fields ? entriesShown(element, value, region) : textsShown(element, value, region));

/** The same of what was sent. @param entries of a repeated group */
export const sentDigest = (
  element: ElementDefinition,
  submitted: readonly string[],
  entries: SentEntries | undefined,
): string => digestOf(element.kind.fields ? entriesSent(element, entries) : textsCompared(element, submitted));
