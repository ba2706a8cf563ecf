import { fieldOf } from '../../../files';
import type { DraftContent } from '../../../links/types';
import {
  type FilesAgain,
  type FormFields,
  fieldsOf,
  fileFields,
  isOfAnotherKind,
  isOfFiles,
  isSecret,
  listedOptions,
  pageFields,
  readAlone,
  STORED,
  textsOf,
} from '../../elements';
import { patternWork } from '../../patterns';
import type { Block, ElementDefinition, FormPage } from '../../types';
import { enteredIn, shownInputs } from './inputs';
import { pagesByElement, seenPages } from './pages';

/** What follows the name of a repeated group in a field's name: an entry, and a field of it. */
const ENTRY = /^(\d{1,9})(?::(.*))?$/s;

/** A field of a form: the input that it belongs to, and in a repeated group which field of which entry. */
interface FieldPlace {
  element: ElementDefinition;
  /** The number of the entry; null outside of repeated groups. */
  entry: number | null;
  /** The field of the entry; null for the mark of the entry itself. */
  field: ElementDefinition | null;
}

/** The place of a field's name among inputs; null for one that they do not have, such as a button. */
function placeOf(inputs: ReadonlyMap<string, ElementDefinition>, name: string): FieldPlace | null {
  const colon = name.indexOf(':');
  const element = inputs.get(colon < 0 ? name : name.slice(0, colon));
  const fields = element && fieldsOf(element);
  if (!element || colon < 0 !== (fields === undefined)) return null;
  if (colon < 0) return { element, entry: null, field: null };
  const [, digits, field] = ENTRY.exec(name.slice(colon + 1)) ?? [];
  const own = field === undefined ? null : fields?.get(field);
  return digits === undefined || own === undefined ? null : { element, entry: Number(digits), field: own };
}

const inputsOf = (block: Block, shows: (name: string) => boolean): ReadonlyMap<string, ElementDefinition> =>
  new Map(shownInputs(block, shows).map((element) => [element.name, element]));

/** Where a visitor is in a form with pages. */
const PAGE_FIELDS = [pageFields.page, pageFields.seen];

/**
 * What a draft keeps of a posted form: the fields of the inputs that the layout shows, and the page; no button, and no password. Files are
 * as the form has them.
 */
export function draftFields(
  block: Block,
  fields: FormFields,
  shows: (name: string) => boolean,
  pages: readonly FormPage[],
): Pick<DraftContent, 'fields' | 'inputs'> {
  const inputs = inputsOf(block, shows);
  const kept = Object.entries(fields).flatMap(([name, value]): [string, readonly string[]][] => {
    const place = placeOf(inputs, name);
    const isKept = place ? !isSecret(place.field ?? place.element) : pages.length > 0 && isPageField(name);
    return isKept ? [[name, textsOf(value)]] : [];
  });
  const entered = enteredIn(block, fields, shows, pages)?.entered ?? new Map<string, readonly string[]>();
  const labels = [...entered.keys()].flatMap((name): [string, string][] => {
    const element = inputs.get(name);
    return element && !isSecret(element) ? [[name, element.label ?? name]] : [];
  });
  return { fields: Object.fromEntries(kept), inputs: Object.fromEntries(labels) };
}

const isPageField = (name: string): boolean => (PAGE_FIELDS as readonly string[]).includes(name);

/**
 * A draft as a form that sends it. Pages that have something of it count as shown, wherever the definition has put their fields since.
 */
export function fieldsOfDraft({ definition }: Block, { fields }: DraftContent, pages: readonly FormPage[]): FormFields {
  if (pages.length === 0 || !Object.hasOwn(fields, pageFields.page)) return fields;
  const pageOf = pagesByElement(definition, pages);
  const filled = Object.entries(fields).flatMap(([name, texts]) =>
    texts.some((text) => text !== '') ? (pageOf.get(name.split(':', 1)[0] ?? '') ?? []) : [],
  );
  return { ...fields, [pageFields.seen]: [...new Set([...seenPages(fields, pages.length), ...filled])].join(',') };
}

/** An entry of a draft for reading. */
interface Read {
  label: string;
  text: string;
}

/** Entries that are shown, and characters of one. */
const MAX = { entries: 200, text: 500 };

/** What a draft has, for reading: all of it, and what the block's form has no field for now, or no such value. */
export function readDraftContent(
  block: Block,
  content: DraftContent,
  shows: (name: string) => boolean,
): { entries: Read[]; lost: Read[] } {
  const inputs = inputsOf(block, shows);
  const names = new Map(content.files.map(({ documentId, name }) => [`${STORED}${documentId}`, name]));
  const work = patternWork();
  const all = Object.entries(content.fields).flatMap(([name, texts]) => {
    const filled = texts.filter((text) => text !== '');
    const place = placeOf(inputs, name);
    const isMark = place ? place.entry !== null && place.field === null : /:\d+$/.test(name);
    if (isPageField(name) || isMark || filled.length === 0) return [];
    const element = place && (place.field ?? place.element);
    const shown = filled.map((text) => names.get(text) ?? labelOf(element, text));
    const read = { label: labelFor(content, name, place), text: shown.join(', ').slice(0, MAX.text) };
    return [{ read, isLost: element === null || !fits(element, filled, work) }];
  });
  const some = all.slice(0, MAX.entries);
  return { entries: some.map(({ read }) => read), lost: some.flatMap(({ read, isLost }) => (isLost ? [read] : [])) };
}

/** What a posted form has, for reading, with the names of its files; no password. */
export function readEntered(
  block: Block,
  fields: FormFields,
  shows: (name: string) => boolean,
  shown: FilesAgain,
): Read[] {
  const known = fileFields(block.definition);
  const namesOf = (text: string) => shown.get(text)?.files.map(({ name }) => name) ?? [];
  const kept = draftFields(block, fields, shows, []);
  const named = Object.entries(kept.fields).map(([name, texts]) => [
    name,
    known.has(fieldOf(name) ?? '') ? texts.flatMap(namesOf) : texts,
  ]);
  return readDraftContent(block, { ...kept, fields: Object.fromEntries(named), files: [] }, shows).entries;
}

const labelOf = (element: ElementDefinition | null, text: string): string =>
  (element && listedOptions(element))?.find(({ value }) => String(value) === text)?.label ?? text;

function labelFor({ inputs }: DraftContent, name: string, place: FieldPlace | null): string {
  const [head = '', number, field] = name.split(':');
  const label = place?.element.label ?? (Object.hasOwn(inputs, head) ? inputs[head] : undefined) ?? head;
  if (number === undefined) return label;
  return `${label} ${Number(number) + 1}: ${place?.field?.label ?? field ?? ''}`;
}

/** Whether an input can show texts: those of wrong values are shown as they are, but an option that is gone is not. */
function fits(element: ElementDefinition, texts: readonly string[], work: ReturnType<typeof patternWork>): boolean {
  const { read, files, options, targets } = element.kind;
  if (files) return texts.every((text) => text.startsWith(STORED));
  // What a function offers, and which records the requester may see, is known only when the form is shown.
  if (!read || targets || (options && !options(element))) return true;
  const result = readAlone({ ...element, required: false }, texts, work);
  return !(result && 'error' in result && isOfAnotherKind(result.error));
}

/** A draft as JSON: texts by input, lists of objects for repeated groups, and the names, types and sizes of files. */
export function draftValues(
  block: Block,
  { fields, files }: DraftContent,
  shows: (name: string) => boolean,
): Record<string, DraftValue> {
  const inputs = inputsOf(block, shows);
  const known = new Map(files.map((file) => [`${STORED}${file.documentId}`, file]));
  const shownAs = (element: ElementDefinition, texts: readonly string[]): DraftValue => {
    const all = isOfFiles(element)
      ? texts.flatMap((text) => {
          const file = known.get(text);
          return file ? [{ name: file.name, mime: file.mime, size: file.size }] : [];
        })
      : [...texts];
    return all.length === 1 ? (all[0] as DraftValue) : all;
  };
  const values = new Map<string, DraftValue>();
  const groups = new Map<string, Map<number, Record<string, DraftValue>>>();
  for (const [name, texts] of Object.entries(fields)) {
    const place = placeOf(inputs, name);
    if (!place) continue;
    const { element, entry, field } = place;
    if (entry === null) values.set(element.name, shownAs(element, texts));
    else {
      const entries = groups.get(element.name) ?? new Map<number, Record<string, DraftValue>>();
      const before = entries.get(entry) ?? {};
      groups.set(element.name, entries.set(entry, field ? { ...before, [field.name]: shownAs(field, texts) } : before));
    }
  }
  for (const [name, entries] of groups)
    values.set(
      name,
      [...entries].sort(([a], [b]) => a - b).map(([, one]) => one),
    );
  // In the order of the definition.
  const order = [...inputs.keys()];
  return Object.fromEntries([...values].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b)));
}

type DraftValue = string | { [name: string]: DraftValue | number } | DraftValue[];
