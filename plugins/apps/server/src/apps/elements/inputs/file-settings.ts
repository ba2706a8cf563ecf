import { z } from 'zod';
import { fileTypes } from '../../../files';
import { check } from '../../yaml/check';
import { boundedList, flag, text } from '../../yaml/schema';
import type { YamlNode } from '../../yaml/yaml';
import type { Settings } from './settings';

/** Bytes of one file without `max_size`. */
export const MAX_SIZE = 10 * 1024 ** 2;

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

/** What a browser might run when it is opened from the media library. */
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
export function matchesType(accepted: string, mime: string, endings: readonly string[]): boolean {
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
export const fileSettings: Settings = {
  accept: { as: 'accept', check: accept },
  max_size: { as: 'maxSize', check: maxSize },
  max_pixels: { as: 'maxPixels', check: maxPixels },
  multiple: { as: 'multiple', check: flag },
  folder: { as: 'folder', check: folder },
};
