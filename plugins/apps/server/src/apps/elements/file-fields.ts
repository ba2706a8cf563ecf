import { type Items, isItems, type Json } from '../../../../shared/json';
import { memoized } from '../../common/collections';
import { fieldOf, filesIn, type RequestFiles, type StoredFile, type TemporaryFile } from '../../files';
import type { FilePlace, FileRules } from '../../files/types';
import { type Message, message } from '../locales';
import type { App, Block, Definition, ElementDefinition } from '../types';
import { boundsOf, type FormFields, sentEntries, textsOf } from './entries';
import { type FileEntries, MAX_FILES, type ShownFile, STORED } from './file';
import { fieldsOf } from './parts';
import type { FileSources, Read, ReadRequest, ShownAgain, TakenFiles, WrongField } from './types';

/** Texts of a field of files, besides those of the record: one of an earlier submission, and the part that has sent files now. */
const KEPT = 'kept:';
const SENT = 'sent:';

/** Whether an element's values are files. */
export const isOfFiles = ({ kind }: ElementDefinition): boolean => kind.files !== undefined;

/** The elements of files by name, and those of repeated groups by `<group>:<field>`. */
export const fileFields = memoized(({ elements }: Definition): ReadonlyMap<string, ElementDefinition> => {
  const all = [...elements.values()].flatMap((element) => [
    [element.name, element] as const,
    ...[...(fieldsOf(element)?.values() ?? [])].map((field) => [`${element.name}:${field.name}`, field] as const),
  ]);
  return new Map(all.filter(([, one]) => isOfFiles(one)));
});

const NONE: TakenFiles = { maxSize: 0, count: 0, isPublic: false, folder: undefined };

/** The files that an element takes. */
const takenBy = (element: ElementDefinition): TakenFiles => element.kind.files?.taken(element) ?? NONE;

/** Where the files of an element are stored. */
export function placeFor(element: ElementDefinition): FilePlace {
  const { isPublic, folder } = takenBy(element);
  return { isPublic, folder };
}

/**
 * The fields of a form, in which fields of files also name the files that the request has sent for them: so these are moved,
 * left out and shown again with the entry of a repeated group that they belong to. Where a field takes one file, a new one
 * replaces what an earlier submission has sent.
 */
export function withSentFiles({ definition }: Block, fields: FormFields, files: RequestFiles | undefined): FormFields {
  const known = fileFields(definition);
  const sent = (files?.parts() ?? []).map((part) => {
    const before = textsOf(Object.hasOwn(fields, part) ? fields[part] : undefined);
    const element = known.get(fieldOf(part) ?? '');
    const isList = element?.kind.isList?.(element) ?? false;
    const replaces = !isList && files?.of(part).some((file) => 'token' in file);
    const stay = replaces ? before.filter((text) => !text.startsWith(KEPT)) : before;
    return [part, [...stay, `${SENT}${part}`]];
  });
  return { ...fields, ...Object.fromEntries(sent) };
}

/** The files of a record's field. */
function storedIn(items: Items | undefined, field: string): StoredFile[] {
  const [name = '', own] = field.split(':');
  const value: unknown = items && Object.hasOwn(items, name) ? items[name] : null;
  if (own === undefined) return filesIn(value);
  const entries: object[] = (Array.isArray(value) ? value : []).filter(
    (one) => typeof one === 'object' && one !== null,
  );
  const all = entries.flatMap((entry) => (Object.hasOwn(entry, own) ? filesIn((entry as Items)[own]) : []));
  return [...new Map(all.map((file) => [file.documentId, file])).values()];
}

/** The files that values of a block's inputs name. */
export function filesNamed({ definition }: Block, items: Items): StoredFile[] {
  return [...fileFields(definition).keys()].flatMap((field) => storedIn(items, field));
}

/** The document ids of files that values of a block's inputs name where these are public. */
export function publicFiles({ definition }: Block, items: Items): string[] {
  const shared = [...fileFields(definition)].filter(([, element]) => takenBy(element).isPublic);
  return shared.flatMap(([field]) => storedIn(items, field).map(({ documentId }) => documentId));
}

/**
 * The fields of a form that keep the files which a JSON value names; a message where one of them is neither a file of the record
 * nor a named one. @param field as in `fileFields`
 */
export function keptFileFields(field: string, value: Json, { items, named }: FileSources): readonly string[] | Message {
  const known = new Set([...storedIn(items, field).map(({ documentId }) => documentId), ...(named?.keys() ?? [])]);
  const ids = [value].flat().flatMap((one) => (one === null ? [] : [isItems(one) ? one.documentId : undefined]));
  return ids.every((id) => typeof id === 'string' && known.has(id))
    ? ids.map((id) => `${STORED}${id}`)
    : message('file_gone');
}

/** The files that a form has submitted for a field: those that stay, and new ones. */
async function fileEntries(
  field: string,
  submitted: readonly string[],
  { files, items, named, isStrict = false }: FileSources,
): Promise<FileEntries> {
  const after = (prefix: string) =>
    submitted.filter((text) => text.startsWith(prefix)).map((text) => text.slice(prefix.length));
  const stays = new Set(after(STORED));
  const uploaded: FileEntries['uploaded'][number][] = [];
  for (const token of after(KEPT).slice(0, MAX_FILES + 1))
    uploaded.push((await files?.claim(field, token)) ?? { problem: 'file_gone' });
  for (const part of new Set(after(SENT))) if (fieldOf(part) === field) uploaded.push(...(files?.of(part) ?? []));
  const stored = storedIn(items, field).filter(({ documentId }) => stays.has(documentId));
  const own = new Set(stored.map(({ documentId }) => documentId));
  const others = [...stays].flatMap((id) => (own.has(id) ? [] : (named?.get(id) ?? [])));
  if (isStrict && own.size + others.length < stays.size) uploaded.push({ problem: 'file_gone' });
  return { stored, named: others, uploaded };
}

/** Reads and checks the files that a form has submitted for a field. @param field as in `fileFields` */
export async function readFiles(
  field: string,
  element: ElementDefinition,
  submitted: readonly string[],
  sources: FileSources,
): Promise<{ files: (StoredFile | TemporaryFile)[] } | { error: Message }> {
  const entries = await fileEntries(field, submitted, sources);
  return element.kind.files?.read(entries, element) ?? { files: [] };
}

/** The files of a field's text in a form that is shown again, and why one of them is not among them. */
interface FileAgain {
  files: readonly ShownFile[];
  lost?: Message;
}

/** Files that a form shows again, by the texts of their fields. */
export type FilesAgain = ReadonlyMap<string, FileAgain>;

/** Files that a form shows again: those of the record that stay, and new ones, kept for its next submission. */
export async function filesAgain({ definition }: Block, fields: FormFields, sources: FileSources): Promise<FilesAgain> {
  const found = new Map<string, FileEntries>();
  const groups = sentEntries(definition, fields);
  for (const [field, element] of fileFields(definition)) {
    if (element.readonly) continue;
    const [name = '', own] = field.split(':');
    const submitted =
      own === undefined
        ? textsOf(Object.hasOwn(fields, name) ? fields[name] : undefined)
        : (groups.get(name)?.entries ?? []).flatMap((entry) => entry.get(own) ?? []);
    for (const text of new Set(submitted)) {
      const { stored = [], named = [], uploaded = [] } = found.get(text) ?? {};
      if (![...stored, ...named, ...uploaded].some((file) => !('problem' in file)))
        found.set(text, await fileEntries(field, [text], sources));
    }
  }
  // Only now: files that the form keeps already must not give way to new ones of it.
  const shown = new Map<string, FileAgain>();
  for (const [text, entries] of found) shown.set(text, await keptFiles(entries, sources.files));
  return shown;
}

/** What is wrong with files that a form should show again and does not have: messages beside their fields. */
export function lostFiles(
  { definition }: Block,
  { entered, repeats }: Pick<ShownAgain, 'repeats'> & { entered: ReadonlyMap<string, readonly string[]> },
  again: FilesAgain,
): WrongField[] {
  const lost = (path: string[], texts: readonly string[]): WrongField[] => {
    const found = texts.map((text) => again.get(text)?.lost).find((one) => one !== undefined);
    return found ? [{ path, message: found }] : [];
  };
  return [...fileFields(definition).keys()].flatMap((field) => {
    const [name = '', own] = field.split(':');
    if (own === undefined) return lost([name], entered.get(name) ?? []);
    return (repeats.get(name) ?? []).flatMap((entry, position) =>
      lost([name, String(position), own], entry?.get(own) ?? []),
    );
  });
}

/** The fields of a form that carries its files along: in fields of files the texts that keep them. */
export function fieldsAgain({ definition }: Block, fields: FormFields, shown: FilesAgain): FormFields {
  const known = fileFields(definition);
  const again = ([name, value]: [string, unknown]): [string, unknown] => {
    if (!known.has(fieldOf(name) ?? '')) return [name, value];
    return [name, textsOf(value).flatMap((text) => (shown.get(text)?.files ?? []).map(({ entry }) => entry))];
  };
  return Object.fromEntries(Object.entries(fields).map(again));
}

/** Files as the form shows them again: new ones are kept for its next submission, where they find room. */
async function keptFiles(
  { stored, named, uploaded }: FileEntries,
  files: RequestFiles | undefined,
): Promise<FileAgain> {
  // Only files of records have an address.
  const unsaved = named.map((file) => ({ ...shownFile(file), url: undefined }));
  const shown: ShownFile[] = [...stored.map(shownFile), ...unsaved];
  let lost: Message | undefined;
  for (const file of uploaded) {
    if ('problem' in file) lost ??= message(file.problem, file.values);
    else if (await files?.keep(file)) shown.push({ entry: `${KEPT}${file.token}`, name: file.name, size: file.size });
    else lost ??= message('file_again');
  }
  return { files: shown, ...(lost && { lost }) };
}

/** The files of a field in a form: those that were submitted, else those of its value. */
export function formFiles(
  { shownFiles }: { shownFiles?: FilesAgain },
  submitted: readonly string[] | null,
  value: Json,
): ShownFile[] {
  return submitted ? submitted.flatMap((text) => shownFiles?.get(text)?.files ?? []) : filesIn(value).map(shownFile);
}

const shownFile = ({ documentId, name, size, url }: StoredFile): ShownFile => ({
  entry: `${STORED}${documentId}`,
  name,
  size,
  url,
});

/** The item of a field of files, or what is wrong with them. */
export async function readFileItem(
  element: ElementDefinition,
  submitted: readonly string[],
  { field, files: sources, take }: ReadRequest,
): Promise<Extract<Read, { value: Json } | { error: Message }>> {
  const found = await readFiles(field, element, submitted, sources);
  if ('error' in found) return found;
  take(found.files);
  return { value: fileItem(element, found.files, sources.files) };
}

/** The item of an element of files. New files have no address before they are stored. */
function fileItem(
  element: ElementDefinition,
  files: readonly (StoredFile | TemporaryFile)[],
  request: RequestFiles | undefined,
): Json {
  const list = files.map((file) => {
    if (!('token' in file)) return file;
    return request?.stored(file) ?? { name: file.name, mime: file.mime, size: file.size };
  });
  return (element.kind.isList?.(element) ? list : (list[0] ?? null)) as unknown as Json;
}

/** Where the definition of a record's block stores a file that the record names; null where no element of files names it. */
export function placeOfFile({ blocks }: App, items: Items, documentId: string): FilePlace | null {
  const block = typeof items.block === 'string' ? blocks.get(items.block) : undefined;
  for (const [field, element] of block ? fileFields(block.definition) : [])
    if (storedIn(items, field).some((file) => file.documentId === documentId)) return placeFor(element);
  return null;
}

/** The files that forms of an app may carry, of one block or of all. */
export function fileRules(app: App, blockId?: string): FileRules {
  const rules = new Map<string, { maxSize: number; count: number }>();
  for (const block of app.blocks.values()) {
    if (blockId !== undefined && block.id !== blockId) continue;
    const { elements } = block.definition;
    for (const [field, element] of fileFields(block.definition)) {
      const taken = takenBy(element);
      const group = elements.get(field.split(':', 1)[0] ?? '');
      const entries = group?.kind.fields ? boundsOf(group).max : 1;
      const known = rules.get(field) ?? { maxSize: 0, count: 0 };
      const count = Math.max(known.count, entries * taken.count);
      rules.set(field, { maxSize: Math.max(known.maxSize, taken.maxSize), count });
    }
  }
  return rules;
}
