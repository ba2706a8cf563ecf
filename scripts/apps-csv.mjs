/**
 * Records as CSV (RFC 4180), without loss: a cell holds a text as it is, anything else as JSON, and so does a text that
 * would be taken for JSON. An empty cell is an item that is missing.
 */

/** @returns the cells as one line, with its line break */
export function csvLine(cells) {
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`;
}

export function cellOf(value) {
  if (value === undefined) return '';
  if (typeof value !== 'string') return JSON.stringify(value);
  return value === '' || isJson(value) ? JSON.stringify(value) : value;
}

export function itemOf(cell) {
  if (cell === '') return undefined;
  return isJson(cell) ? JSON.parse(cell) : cell;
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Rows of a CSV text that comes in pieces; line breaks inside quotes belong to the cell. */
export async function* csvRows(chunks) {
  let row = [];
  let cell = '';
  let quoted = false;
  let closing = false;
  for await (const chunk of chunks) {
    for (const character of chunk) {
      if (quoted && !closing) {
        if (character === '"') closing = true;
        else cell += character;
        continue;
      }
      if (closing && character === '"') {
        // A quote right behind a closing one stands for itself.
        cell += '"';
        closing = false;
        continue;
      }
      [quoted, closing] = [false, false];
      if (character === '"') quoted = true;
      else if (character === ',') {
        row.push(cell);
        cell = '';
      } else if (character === '\n') {
        yield [...row, cell];
        row = [];
        cell = '';
      } else if (character !== '\r') cell += character;
    }
  }
  if (quoted && !closing) throw new Error('The last quoted cell is not closed');
  if (cell !== '' || row.length > 0) yield [...row, cell];
}
