import type { Items, Json } from '../../../../shared/json';
import { filesIn, type HeldFile, type RequestFiles, type StoredFile } from '../../files';
import type { FileRules } from '../../files/types';
import { elementTypes, MAX_FILES, MAX_SIZE, type ShownFile } from '../elements';
import type { Message } from '../locales';
import { FilesNeeded } from '../run/run-files';
import type { App, Block, ElementDefinition } from '../types';
import { type FormFields, textsOf } from './sent/form';

/** Values of the fields that keep a file: of the record, and of an earlier submission. */
const STORED = 'stored:';
const KEPT = 'kept:';

/** Where the files of a submission come from. */
export interface FileSources {
  /** The request's files; absent for a form without any. */
  files: RequestFiles | undefined;
  /** Items of the record that the form changes. */
  items: Items | undefined;
}

/** As an element type of files takes them. */
type FileEntries = Parameters<NonNullable<NonNullable<ReturnType<typeof elementTypes.get>>['files']>>[0];

/** Whether an element's values are files. */
export const isOfFiles = ({ type }: Pick<ElementDefinition, 'type'>): boolean =>
  elementTypes.get(type)?.files !== undefined;

/** The files that a form has submitted for an element: those that stay, and new ones. */
async function fileEntries(
  { name }: ElementDefinition,
  submitted: readonly string[],
  { files, items }: FileSources,
): Promise<FileEntries> {
  const stays = new Set(submitted.filter((text) => text.startsWith(STORED)).map((text) => text.slice(STORED.length)));
  const stored = filesIn(items && Object.hasOwn(items, name) ? items[name] : null);
  const held: FileEntries['held'][number][] = [];
  for (const text of submitted.slice(0, MAX_FILES + 1)) {
    if (text.startsWith(KEPT))
      held.push((await files?.claim(name, text.slice(KEPT.length))) ?? { problem: 'file_gone' });
  }
  return {
    stored: stored.filter(({ documentId }) => stays.has(documentId)),
    held: [...held, ...(files?.of(name) ?? [])],
  };
}

/** Reads and checks the files that a form has submitted for an element. */
export async function readFiles(
  element: ElementDefinition,
  submitted: readonly string[],
  sources: FileSources,
): Promise<{ files: (StoredFile | HeldFile)[] } | { error: Message }> {
  const entries = await fileEntries(element, submitted, sources);
  return elementTypes.get(element.type)?.files?.(entries, element) ?? { files: [] };
}

/** Files that a form shows again, by element: those of the record that stay, and new ones, kept for its next submission. */
export async function filesAgain(
  { definition }: Block,
  fields: FormFields,
  sources: FileSources,
): Promise<Map<string, readonly ShownFile[]>> {
  const shown = new Map<string, readonly ShownFile[]>();
  for (const element of definition.elements.values()) {
    if (!isOfFiles(element) || element.readonly) continue;
    const { name } = element;
    const submitted = textsOf(Object.hasOwn(fields, name) ? fields[name] : undefined);
    shown.set(name, await keptFiles(await fileEntries(element, submitted, sources), sources.files));
  }
  return shown;
}

/** Files as the form shows them again after an error: new ones are kept for its next submission, as far as there is room. */
async function keptFiles({ stored, held }: FileEntries, files: RequestFiles | undefined): Promise<ShownFile[]> {
  const shown = stored.map(shownFile);
  for (const file of held) {
    if ('token' in file && (await files?.keep(file)))
      shown.push({ entry: `${KEPT}${file.token}`, name: file.name, size: file.size });
  }
  return shown;
}

/** The files of a record as its form shows them. */
export const shownFiles = (value: Json): ShownFile[] => filesIn(value).map(shownFile);

const shownFile = ({ documentId, name, size, url }: StoredFile): ShownFile => ({
  entry: `${STORED}${documentId}`,
  name,
  size,
  url,
});

/** The item of an element of files. New files have no address before they are in the media library. */
export function fileItem(
  { multiple }: ElementDefinition,
  files: readonly (StoredFile | HeldFile)[],
  request: RequestFiles | undefined,
): Json {
  const list = files.map((file) => {
    if (!('token' in file)) return file;
    return request?.stored(file) ?? { name: file.name, mime: file.mime, size: file.size };
  });
  return (multiple ? list : (list[0] ?? null)) as unknown as Json;
}

/** FilesNeeded where one of the files is not in the media library yet. */
export function requireStored(
  block: Block,
  submitted: ReadonlyMap<string, readonly (StoredFile | HeldFile)[]>,
  request: RequestFiles | undefined,
): void {
  const needed = [...submitted.values()]
    .flat()
    .filter((file): file is HeldFile => 'token' in file && !request?.stored(file));
  if (needed.length > 0) throw new FilesNeeded(needed, (name) => block.definition.elements.get(name)?.folder);
}

/** The files that forms of an app may carry, of one block or of all. */
export function fileRules(app: App, blockId?: string): FileRules {
  const rules = new Map<string, { maxSize: number; count: number }>();
  for (const block of app.blocks.values()) {
    if (blockId !== undefined && block.id !== blockId) continue;
    for (const element of block.definition.elements.values()) {
      if (!isOfFiles(element)) continue;
      const { maxSize = MAX_SIZE, multiple } = element;
      const known = rules.get(element.name) ?? { maxSize: 0, count: 0 };
      const count = Math.max(known.count, multiple ? MAX_FILES : 1);
      rules.set(element.name, { maxSize: Math.max(known.maxSize, maxSize), count });
    }
  }
  return rules;
}
