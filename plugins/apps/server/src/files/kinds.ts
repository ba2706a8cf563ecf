import { isUtf8 } from 'node:buffer';

/** A media type with the endings of its files, the usual one first. */
interface Kind {
  mime: string;
  endings: readonly string[];
  matches(head: Buffer): boolean;
}

/** Bytes from the beginning of a file by which its type is found. */
export const HEAD = 4_096;

/** Whether the bytes at an offset are these: text is Latin-1, `.` any byte. */
function at(offset: number, pattern: string): (head: Buffer) => boolean {
  const wanted = Buffer.from(pattern, 'latin1');
  return (head) =>
    head.length >= offset + wanted.length &&
    wanted.every((byte, index) => byte === 0x2e || head[offset + index] === byte);
}

const all =
  (...tests: ((head: Buffer) => boolean)[]) =>
  (head: Buffer) =>
    tests.every((test) => test(head));
const any =
  (...tests: ((head: Buffer) => boolean)[]) =>
  (head: Buffer) =>
    tests.some((test) => test(head));

/** A ZIP file that names one of its first entries so. */
const zipWith = (entry: string) => all(at(0, 'PK\x03\x04'), (head) => head.includes(entry, 0, 'latin1'));

/** An ISO media file of one of these brands. */
const brand = (...brands: string[]) => all(at(4, 'ftyp'), any(...brands.map((one) => at(8, one))));

const office = 'application/vnd.openxmlformats-officedocument.';
const odf = 'application/vnd.oasis.opendocument.';

/** Types known by their first bytes; the first match wins. None can run in a page. */
const kinds: readonly Kind[] = [
  { mime: 'image/jpeg', endings: ['jpg', 'jpeg'], matches: at(0, '\xff\xd8\xff') },
  { mime: 'image/png', endings: ['png'], matches: at(0, '\x89PNG\r\n\x1a\n') },
  { mime: 'image/gif', endings: ['gif'], matches: any(at(0, 'GIF87a'), at(0, 'GIF89a')) },
  { mime: 'image/webp', endings: ['webp'], matches: all(at(0, 'RIFF'), at(8, 'WEBP')) },
  { mime: 'image/avif', endings: ['avif'], matches: brand('avif', 'avis') },
  { mime: 'image/heic', endings: ['heic', 'heif'], matches: brand('heic', 'heix', 'hevc', 'mif1', 'msf1') },
  { mime: 'image/tiff', endings: ['tif', 'tiff'], matches: any(at(0, 'II*\0'), at(0, 'MM\0*')) },
  {
    mime: 'image/bmp',
    endings: ['bmp'],
    matches: all(at(0, 'BM'), (head) => head.length > 26 && head.readUInt32LE(6) === 0),
  },
  { mime: 'application/pdf', endings: ['pdf'], matches: at(0, '%PDF-') },
  { mime: `${office}wordprocessingml.document`, endings: ['docx'], matches: zipWith('word/') },
  { mime: `${office}spreadsheetml.sheet`, endings: ['xlsx'], matches: zipWith('xl/') },
  { mime: `${office}presentationml.presentation`, endings: ['pptx'], matches: zipWith('ppt/') },
  { mime: `${odf}text`, endings: ['odt'], matches: zipWith(`mimetype${odf}text`) },
  { mime: `${odf}spreadsheet`, endings: ['ods'], matches: zipWith(`mimetype${odf}spreadsheet`) },
  { mime: `${odf}presentation`, endings: ['odp'], matches: zipWith(`mimetype${odf}presentation`) },
  { mime: 'application/epub+zip', endings: ['epub'], matches: zipWith('mimetypeapplication/epub+zip') },
  // A ZIP file without its ending may be an office file whose entries stand in another order.
  { mime: 'application/zip', endings: ['zip', 'docx', 'xlsx', 'pptx'], matches: at(0, 'PK\x03\x04') },
  { mime: 'application/gzip', endings: ['gz', 'tgz'], matches: at(0, '\x1f\x8b\x08') },
  { mime: 'application/x-7z-compressed', endings: ['7z'], matches: at(0, '7z\xbc\xaf\x27\x1c') },
  { mime: 'application/rtf', endings: ['rtf'], matches: at(0, '{\\rtf') },
  { mime: 'application/msword', endings: ['doc', 'xls', 'ppt'], matches: at(0, '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1') },
  { mime: 'audio/mpeg', endings: ['mp3'], matches: any(at(0, 'ID3'), at(0, '\xff\xfb'), at(0, '\xff\xf3')) },
  { mime: 'audio/wav', endings: ['wav'], matches: all(at(0, 'RIFF'), at(8, 'WAVE')) },
  { mime: 'audio/flac', endings: ['flac'], matches: at(0, 'fLaC') },
  { mime: 'audio/ogg', endings: ['ogg', 'oga', 'opus', 'ogv'], matches: at(0, 'OggS') },
  { mime: 'audio/mp4', endings: ['m4a'], matches: brand('M4A ', 'M4B ') },
  { mime: 'video/quicktime', endings: ['mov'], matches: brand('qt  ') },
  { mime: 'video/mp4', endings: ['mp4', 'm4v'], matches: at(4, 'ftyp') },
  { mime: 'video/webm', endings: ['webm', 'mkv'], matches: at(0, '\x1a\x45\xdf\xa3') },
];

/** Types of texts, by the file's ending; the first is that of a text with another one. */
const texts: readonly Omit<Kind, 'matches'>[] = [
  { mime: 'text/plain', endings: ['txt', 'text', 'log'] },
  { mime: 'text/csv', endings: ['csv'] },
  { mime: 'text/markdown', endings: ['md', 'markdown'] },
  { mime: 'text/calendar', endings: ['ics'] },
  { mime: 'text/vcard', endings: ['vcf'] },
  { mime: 'application/json', endings: ['json'] },
];

/** Every type that a file may have, with its endings. */
export const fileTypes: readonly Omit<Kind, 'matches'>[] = [...kinds, ...texts];

/** The type of a file's content: its media type, and the ending that its name must have. */
export interface FoundKind {
  mime: string;
  ending: string;
}

/**
 * The type of a file by its first bytes, whatever its name and its sender say; null for one that is not known, and for
 * whatever a browser might run: HTML, SVG, XML and scripts.
 * @param head its first HEAD bytes
 * @param ending of its name, in lower case and without the dot
 */
export function kindOf(head: Buffer, ending: string): FoundKind | null {
  const kind = kinds.find(({ matches }) => matches(head));
  if (kind) return { mime: kind.mime, ending: endingOf(kind, ending) };
  if (!isPlainText(head)) return null;
  const text = texts.find(({ endings }) => endings.includes(ending)) ?? texts[0];
  return text ? { mime: text.mime, ending: endingOf(text, ending) } : null;
}

const endingOf = ({ endings }: Pick<Kind, 'endings'>, ending: string): string =>
  endings.includes(ending) ? ending : (endings[0] ?? '');

/** Whether bytes are text that no browser takes for a page: UTF-8 without control characters and without any tag. */
function isPlainText(head: Buffer): boolean {
  // The last character may be cut.
  const cut = [0, 1, 2, 3].some((bytes) => head.length > bytes && isUtf8(head.subarray(0, head.length - bytes)));
  if (!cut || (head.length < HEAD && !isUtf8(head))) return false;
  const text = head.toString('latin1');
  return !/[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/.test(text) && !/<[a-z!?/]/i.test(text) && !text.startsWith('#!');
}
