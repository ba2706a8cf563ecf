/**
 * Splits a text that comes in pieces into lines without their `\n`; a last line without one counts if it is not empty. Reads
 * each piece once, so that a line in very many small pieces costs no more.
 * @param refuse called when a line is longer than `maxLength` characters; must throw
 */
export async function* linesOf(
  pieces: AsyncIterable<string>,
  maxLength = Number.POSITIVE_INFINITY,
  refuse: () => never = () => {
    throw new RangeError('A line is too long');
  },
): AsyncGenerator<string> {
  let begun: string[] = [];
  let length = 0;
  const add = (text: string): void => {
    length += text.length;
    if (length > maxLength) refuse();
    begun.push(text);
  };
  const take = (): string => {
    const line = begun.join('');
    begun = [];
    length = 0;
    return line;
  };
  for await (const piece of pieces) {
    let start = 0;
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', start)) {
      add(piece.slice(start, end));
      yield take();
      start = end + 1;
    }
    if (start < piece.length) add(piece.slice(start));
  }
  if (length > 0) yield take();
}
