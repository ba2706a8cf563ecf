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
export function isPlainText(head: Buffer, isCut: boolean, anyEncoding: boolean): boolean {
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
