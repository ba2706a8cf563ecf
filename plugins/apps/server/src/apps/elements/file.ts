import { z } from 'zod';
import type { Json } from '../../../../shared/json';
import { filesIn, fileTypes, type RefusedFile, type StoredFile, type TemporaryFile } from '../../files';
import { type Message, message } from '../locales';
import type { ElementDefinition } from '../types';
import type { YamlNode } from '../yaml';
import { boundedList, check, flag, text } from '../yaml-schema';
import {
  attributes,
  controlId,
  escapeHtml,
  field,
  isDemanded,
  plainText,
  readableText,
  stateAttributes,
} from './inputs/html';
import { inputSettings, isMultiple, type Multiple, multiple, type Settings } from './inputs/settings';
import type { ElementType, ElementView, JsonSchema } from './types';

/** Bytes of one file without `max_size`. */
const MAX_SIZE = 10 * 1024 ** 2;

const units: Record<string, number> = { '': 1, b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

const NOT_SIZE = 'This must be a size, such as 500 kB or 20 MB';

/** A number of bytes, or a text with a unit; a kilobyte has 1024. */
const maxSize = check(z.union([z.number(), z.string()], NOT_SIZE), (value, at) => {
  const [, number, unit = ''] = /^(\d{1,15}(?:\.\d{1,6})?) ?([kmg]?b)?$/i.exec(String(value)) ?? [];
  const bytes = Math.floor(Number(number) * (units[unit.toLowerCase()] ?? Number.NaN));
  return bytes >= 1 ? bytes : at.fail(NOT_SIZE);
});

const NOT_PIXELS = 'This must be a whole number of pixels, such as 12000000';

/** Pixels of a picture, width times height; of an animated one all frames together. */
const maxPixels = check(z.number(NOT_PIXELS), (value, at) =>
  Number.isSafeInteger(value) && value >= 1 ? value : at.fail(NOT_PIXELS),
);

/** Entries of `accept`. */
const MAX_TYPES = 50;

/** What a browser might run when it is opened. */
const ACTIVE = /svg|html?$|xml|javascript|^\.(?:js|mjs|php|exe|sh)$/i;

function knownType(given: string, at: YamlNode): string {
  const type = given.trim().toLowerCase();
  if (fileTypes.some((one) => matchesType(type, one.mime, one.endings))) return type;
  return ACTIVE.test(type)
    ? at.fail(`Files of the type "${type}" are never taken, because a browser might run what is in them`)
    : at.fail(
        `The type "${type}" is not known: write a media type, such as image/* or application/pdf, or an ending, such as .docx`,
      );
}

/** Whether an entry of `accept` names a type. */
function matchesType(accepted: string, mime: string, endings: readonly string[]): boolean {
  if (accepted.startsWith('.')) return endings.includes(accepted.slice(1));
  return accepted.endsWith('/*') ? mime.startsWith(accepted.slice(0, -1)) : accepted === mime;
}

const accept = check(
  z.union([text.schema, boundedList(MAX_TYPES, `There are at most ${MAX_TYPES} types`, z.array(z.string()))]),
  (value, at) => {
    const isList = Array.isArray(value);
    const list = isList ? value : value.split(',').slice(0, MAX_TYPES);
    return list.map((one, index) => knownType(one, isList ? at.child(index) : at));
  },
);

const FOLDER = /^[\p{L}\p{N}_-][\p{L}\p{N} _-]{0,49}(?:\/[\p{L}\p{N}_-][\p{L}\p{N} _-]{0,49}){0,4}$/u;

const folder = check(text.schema, (value, at) =>
  value.length <= 260 && FOLDER.test(value)
    ? value
    : at.fail('This must be a folder of the media library, such as "applications" or "members/photos"'),
);

/** Settings of files besides those of every input. */
export type FileSettings = Multiple & {
  /** Media types and endings of files. */
  accept?: readonly string[];
  /** Bytes of one file. */
  maxSize?: number;
  /** Pixels of a picture, all its frames together. */
  maxPixels?: number;
  /** Whether files are stored in Strapi's media library, which serves them to all; without it they have the rights of their record. */
  isPublic?: boolean;
  /** Folder of the media library, `a/b`, for public files. */
  folder?: string;
};

const fileSettings: Settings<FileSettings> = {
  accept: { own: 'accept', check: accept },
  max_size: { own: 'maxSize', check: maxSize },
  max_pixels: { own: 'maxPixels', check: maxPixels },
  ...multiple,
  public: { own: 'isPublic', check: flag },
  folder: { own: 'folder', check: folder },
};

/** The text of a field that keeps a file of the record has this before the document id. */
export const STORED = 'stored:';

/** Files of one element with `multiple`. */
export const MAX_FILES = 20;

/** What a form has submitted for an element of files. */
export interface FileEntries {
  /** Files of the record that stay. */
  stored: readonly StoredFile[];
  /** Other stored files: those of a draft that stay, and of the app that a JSON client names. */
  named: readonly StoredFile[];
  /** New files, in the order in which they were chosen, with what is wrong with them. */
  uploaded: readonly (TemporaryFile | RefusedFile)[];
}

/** A file in a form: `entry` is the value of the field that keeps it. */
export interface ShownFile {
  entry: string;
  name: string;
  size: number;
  url?: string;
}

/** Checks the files of an element; the files that the record will have, at most one without `multiple`. */
function checkedFiles(
  { stored, named, uploaded }: FileEntries,
  { required, settings }: ElementDefinition<FileSettings>,
  defaultAccept: readonly string[],
): { files: (StoredFile | TemporaryFile)[] } | { error: Message } {
  const { multiple, accept = defaultAccept, maxSize = MAX_SIZE, maxPixels = Number.POSITIVE_INFINITY } = settings;
  const wrong = uploaded.find((file) => 'problem' in file);
  if (wrong && 'problem' in wrong) return { error: message(wrong.problem, wrong.values) };
  const chosen = uploaded.filter((file): file is TemporaryFile => 'token' in file);
  // A new file replaces the one that a draft has, as it does that of a record.
  const fine = multiple || chosen.length === 0 ? [...named, ...chosen] : chosen;
  const refused = fine.find((file) => !isAccepted(file, accept));
  if (refused) return { error: message('file_type', { name: nameOf(refused) }) };
  const large = fine.find((file) => file.size > maxSize);
  if (large) {
    const size = { bytes: maxSize };
    return { error: message('file_size', { size, name: nameOf(large) }) };
  }
  const unfolded = fine.find((file) => pixelsOf(file) > maxPixels);
  if (unfolded) return { error: message('file_pixels', { pixels: maxPixels, name: nameOf(unfolded) }) };
  if (!multiple && fine.length > 1) return { error: message('file_one') };
  const all = multiple ? [...stored, ...fine] : [...stored, ...fine].slice(-1);
  if (all.length > MAX_FILES) return { error: message('file_most', { count: MAX_FILES }) };
  if (all.length === 0 && required) return { error: message('file') };
  return { files: all };
}

/** The name by which the sender knows a file: a stored one has the ending of its content's type. */
const nameOf = (file: StoredFile | TemporaryFile): string =>
  'chosen' in file && file.chosen ? file.chosen : file.name;

/** The pixels of a picture; 0 for a file that is none. The media library knows the size of one frame. */
const pixelsOf = (file: StoredFile | TemporaryFile): number =>
  'token' in file ? (file.pixels ?? 0) : (file.width ?? 0) * (file.height ?? 0);

function isAccepted({ mime, name }: Pick<StoredFile, 'mime' | 'name'>, accept: readonly string[]): boolean {
  const ending = name.slice(name.lastIndexOf('.') + 1);
  return accept.length === 0 || accept.some((type) => matchesType(type, mime, [ending]));
}

/** A file as its record stores it. */
const fileSchema: JsonSchema = {
  type: 'object',
  properties: {
    id: { type: 'number' },
    documentId: { type: 'string' },
    name: { type: 'string' },
    url: { type: 'string' },
    mime: { type: 'string' },
    size: { type: 'number', description: 'Bytes' },
    width: { type: 'number', description: 'Pixels of an image' },
    height: { type: 'number', description: 'Pixels of an image' },
    thumbnail: { type: 'string', description: 'Address of a small picture of an image that is larger' },
  },
  required: ['id', 'documentId', 'name', 'url', 'mime', 'size'],
};

function filesSchema({ required, settings }: ElementDefinition<FileSettings>): JsonSchema {
  if (settings.multiple)
    return { type: 'array', items: fileSchema, maxItems: MAX_FILES, ...(required && { minItems: 1 }) };
  return required ? fileSchema : { anyOf: [fileSchema, { type: 'null' }] };
}

/** An element type of files. @param defaultAccept types without `accept`; empty: all that are known */
function fileInput(
  defaultAccept: readonly string[],
  show: (file: StoredFile, view: ElementView<FileSettings>) => string,
): ElementType<FileSettings> {
  const { index_type: _, default: __, ...settings } = inputSettings;
  return {
    role: 'input',
    cell: 'json',
    settings: { ...settings, ...fileSettings },
    isList: isMultiple,
    load: ({ settings }) => ({ files: settings.multiple ? MAX_FILES : 1 }),
    schema: filesSchema,
    shows: (value) => filesIn(value).map(({ documentId }) => `${STORED}${documentId}`),
    compares: (submitted) => [...new Set(submitted)].filter((text) => text !== '').sort(),
    files: {
      taken({ settings: { maxSize = MAX_SIZE, multiple, isPublic = false, folder } }) {
        return { maxSize, count: multiple ? MAX_FILES : 1, isPublic, folder };
      },
      read: (entries, definition) => checkedFiles(entries, definition, defaultAccept),
    },
    show: (view) => (view.mode === 'text' ? shown(view, show) : chooser(view, defaultAccept)),
  };
}

function shown(
  view: ElementView<FileSettings>,
  show: (file: StoredFile, view: ElementView<FileSettings>) => string,
): string {
  const files = filesIn(view.value);
  if (files.length === 0) return isEmpty(view.value) ? '' : readableText(view.value);
  const items = files.map((file) => show(file, view));
  return view.definition.settings.multiple
    ? `<ul class="apps-files">${items.map((one) => `<li>${one}</li>`).join('')}</ul>`
    : items.join('');
}

const isEmpty = (value: Json) => value === null || (Array.isArray(value) && value.length === 0);

/** A field to choose files, and a checked box for each file that is there: to uncheck it removes the file. */
function chooser(view: ElementView<FileSettings>, defaultAccept: readonly string[]): string {
  const { name, settings } = view.definition;
  const { multiple, accept = defaultAccept, maxSize = MAX_SIZE } = settings;
  const files = view.files ?? [];
  const there = files.map((file, index) => {
    const id = controlId(view, index + 1);
    const box = attributes({
      id,
      name,
      type: 'checkbox',
      value: file.entry,
      checked: true,
      disabled: view.definition.readonly,
    });
    const text = file.url ? `<a${attributes({ href: file.url })}>${escapeHtml(file.name)}</a>` : escapeHtml(file.name);
    // The name is a link in the middle of the message.
    const kept = escapeHtml(view.locale.say('file_keep', { name: '\0' })).replace('\0', () => text);
    return `<span class="apps-choice"><input${box}> <label for="${id}">${kept} (${escapeHtml(view.locale.size(file.size))})</label></span> `;
  });
  // A file that is there need not be chosen again.
  const asked = files.length > 0 ? { ...view, definition: { ...view.definition, required: false } } : view;
  const attrs = attributes({
    id: controlId(view),
    name,
    type: 'file',
    accept: accept.length > 0 ? accept.join(',') : undefined,
    multiple,
    required: isDemanded(asked),
    'data-apps-max-size': maxSize,
  });
  return field(view, `${there.join('')}<input${attrs}${stateAttributes(asked, 'disabled')}>`);
}

/** The name of a file without its ending, for `alt`. */
const altOf = ({ name }: StoredFile): string => plainText(name).replace(/\.[a-z0-9]+$/i, '');

/** A file in Strapi's media library (docs/reference/definitions.md#files), shown as a link. */
export const file = fileInput([], ({ url, name, mime, size }, { locale }) => {
  const link = attributes({ class: 'apps-file', href: url, type: mime });
  return `<a${link}>${escapeHtml(name)}</a> <small>(${escapeHtml(locale.size(size))})</small>`;
});

/** Types that all browsers show. */
const types = ['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'image/avif'];

/** An image in Strapi's media library (docs/reference/definitions.md#files), shown as such. */
export const image = fileInput(types, (file) => {
  const { url, width, height } = file;
  return `<img${attributes({ class: 'apps-image', src: url, alt: altOf(file), width, height, loading: 'lazy' })}>`;
});
