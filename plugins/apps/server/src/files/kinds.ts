import { isUtf8 } from 'node:buffer';

/** Names of the elements of HTML, with those of older versions, and of the documents that it may embed. */
const ELEMENTS = [
  'a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote body br button',
  'canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset',
  'figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe image img input ins',
  'isindex kbd keygen label legend li link listing main map mark marquee math menu menuitem meta meter multicol nav nextid nobr',
  'noembed noframes noscript object ol optgroup option output p param picture plaintext portal pre progress q rb rp rt rtc ruby',
  's samp script search section select slot small source spacer span strike strong style sub summary sup svg table tbody td',
  'template textarea tfoot th thead time title tr track tt u ul var video wbr xmp',
]
  .join(' ')
  .replaceAll(' ', '|');

/** The rest of a tag. It ends before the next `<`, so that looking for all of them takes linear time. */
const REST = String.raw`(?=[\s/>])[^<>]*`;

/** What a browser or a program might take for markup: tags of HTML, tags with handlers, declarations, and where XML begins. */
const MARKUP = [
  new RegExp(`</?(?:${ELEMENTS})${REST}>`, 'i'),
  /<[a-z][^<>]*[\s/"']on[a-z]+\s*=/i,
  /<!(?:--|\[|[a-z])|<\?[a-z=]/i,
  /^(?:\ufeff|\xef\xbb\xbf)?\s*<[a-z][\w.:-]*[\s/>]/i,
  /^#!/,
];

/** A tag of HTML that goes on behind the bytes that are looked at. */
const CUT_TAG = new RegExp(`</?(?:${ELEMENTS})${REST}$`, 'i');

const CONTROLS = /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/;

/**
 * Whether bytes are text that no browser takes for a page: without control characters and without any tag of HTML. A `<` that
 * begins none is text, as in `Anna <anna@example.org>` and `a <b`.
 * @param isCut whether the file goes on behind them
 * @param anyEncoding whether it may be in another encoding than UTF-8: UTF-16 with its mark, or one of single or double bytes
 */
function isPlainText(head: Buffer, isCut: boolean, anyEncoding: boolean): boolean {
  const text = textOf(head, isCut, anyEncoding);
  if (text === null || CONTROLS.test(text)) return false;
  return !MARKUP.some((pattern) => pattern.test(text)) && !(isCut && CUT_TAG.test(text));
}

/** The text of bytes; of an encoding that is not known, each byte as a character: its ASCII is that of all of them. */
function textOf(head: Buffer, isCut: boolean, anyEncoding: boolean): string | null {
  // The last character may be cut.
  const ends = isCut ? [0, 1, 2, 3] : [0];
  if (ends.some((bytes) => head.length > bytes && isUtf8(head.subarray(0, head.length - bytes))))
    return head.toString();
  if (!anyEncoding) return null;
  const wide =
    head[0] === 0xff && head[1] === 0xfe ? 'utf-16le' : head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : null;
  return wide === null ? head.toString('latin1') : new TextDecoder(wide).decode(head);
}

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

/** An ISO media file that names this brand among those that it is compatible with. */
const compatible = (one: string) => (head: Buffer) =>
  head.subarray(16, Math.min(head.length, head.readUInt32BE(0))).includes(one, 0, 'latin1');

/** Brands of films. Others are of photos and of cameras' raw pictures. */
const FILMS = [
  ...['isom', 'iso.', 'isml', 'mp4.', 'mp71', 'avc1', 'M4V ', 'M4VH', 'M4VP', 'mmp4', 'dash', 'F4V ', 'F4P ', 'MSNV'],
  ...['XAVC', 'CAEP', 'FACE', 'NDSC', 'NDSH', 'NDSM', 'NDXC', 'NDXH', 'NDXM', 'hvc1', 'dby1', 'av01', 'cmfc', 'piff'],
];

const office = 'application/vnd.openxmlformats-officedocument.';
const odf = 'application/vnd.oasis.opendocument.';

/** Types known by their first bytes; the first match wins. None can run in a page. */
const kinds: readonly Kind[] = [
  { mime: 'image/jpeg', endings: ['jpg', 'jpeg'], matches: at(0, '\xff\xd8\xff') },
  { mime: 'image/png', endings: ['png'], matches: at(0, '\x89PNG\r\n\x1a\n') },
  { mime: 'image/gif', endings: ['gif'], matches: any(at(0, 'GIF87a'), at(0, 'GIF89a')) },
  { mime: 'image/webp', endings: ['webp'], matches: all(at(0, 'RIFF'), at(8, 'WEBP')) },
  {
    mime: 'image/avif',
    endings: ['avif'],
    matches: any(brand('avif', 'avis'), all(brand('mif1', 'msf1'), compatible('avif'))),
  },
  { mime: 'image/heic', endings: ['heic', 'heif'], matches: brand('hei.', 'hev.', 'mif1', 'msf1') },
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
  // An office file with a password is a container of this type too.
  {
    mime: 'application/msword',
    endings: ['doc', 'xls', 'ppt', 'docx', 'xlsx', 'pptx'],
    matches: at(0, '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'),
  },
  { mime: 'audio/mpeg', endings: ['mp3'], matches: any(at(0, 'ID3'), at(0, '\xff\xfb'), at(0, '\xff\xf3')) },
  { mime: 'audio/wav', endings: ['wav'], matches: all(at(0, 'RIFF'), at(8, 'WAVE')) },
  { mime: 'audio/flac', endings: ['flac'], matches: at(0, 'fLaC') },
  { mime: 'audio/ogg', endings: ['ogg', 'oga', 'opus', 'ogv'], matches: at(0, 'OggS') },
  { mime: 'audio/mp4', endings: ['m4a'], matches: brand('M4A ', 'M4B ', 'M4P ') },
  { mime: 'video/quicktime', endings: ['mov'], matches: brand('qt  ') },
  { mime: 'video/3gpp', endings: ['3gp', '3g2'], matches: brand('3g..') },
  { mime: 'video/mp4', endings: ['mp4', 'm4v'], matches: brand(...FILMS) },
  { mime: 'video/webm', endings: ['webm', 'mkv'], matches: at(0, '\x1a\x45\xdf\xa3') },
];

/** A type of texts. */
interface TextKind extends Omit<Kind, 'matches'> {
  /** Whether files in other encodings than UTF-8 are in use. */
  anyEncoding?: boolean;
}

/** Types of texts, by the file's ending; the first is that of a text with another one, in UTF-8. */
const texts: readonly TextKind[] = [
  { mime: 'text/plain', endings: ['txt', 'text', 'log'], anyEncoding: true },
  { mime: 'text/csv', endings: ['csv'], anyEncoding: true },
  { mime: 'text/markdown', endings: ['md', 'markdown'] },
  { mime: 'text/calendar', endings: ['ics'] },
  { mime: 'text/vcard', endings: ['vcf'], anyEncoding: true },
  { mime: 'application/json', endings: ['json'] },
];

/** Every type that a file may have, with its endings. */
export const fileTypes: readonly Omit<Kind, 'matches'>[] = [...kinds, ...texts];

/** The type of a file's content: its media type, and the ending that its name must have. */
interface FoundKind {
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
  const known = texts.find(({ endings }) => endings.includes(ending));
  if (!isPlainText(head, head.length >= HEAD, known?.anyEncoding ?? false)) return null;
  const text = known ?? texts[0];
  return text ? { mime: text.mime, ending: endingOf(text, ending) } : null;
}

const endingOf = ({ endings }: Pick<Kind, 'endings'>, ending: string): string =>
  endings.includes(ending) ? ending : (endings[0] ?? '');
