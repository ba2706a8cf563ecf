import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { Json } from '../../../shared/json';
import { jsonInText } from './cells';
import { fromSpreadsheet, jsonOf, NULL, notFormula } from './csv';
import { MORE } from './headings';
import { type Batches, type Column, columnsOf, moreCell, type Row, rowsOf, type TableOptions, valueIn } from './table';
import { WrongEntry } from './text';

/** What one sheet holds in every program: rows with the heading, and the characters of a cell. */
const MAX_ROWS = 1_048_576;
const MAX_CELL = 32_767;

/** The media type of XLSX. */
export const XLSX_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const FORMATS = 'http://schemas.openxmlformats.org';
const MAIN = `${FORMATS}/spreadsheetml/2006/main`;
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
const RELATIONS = `${FORMATS}/officeDocument/2006/relationships`;

/** All parts but the sheet. Style 1 is text, so that a cell stays one when it is edited. */
const parts: Record<string, string> = {
  '[Content_Types].xml': `${XML}<Types xmlns="${FORMATS}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${TYPE}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${TYPE}.styles+xml"/></Types>`,
  '_rels/.rels': `${XML}<Relationships xmlns="${FORMATS}/package/2006/relationships"><Relationship Id="rId1" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': `${XML}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets><sheet name="Records" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': `${XML}<Relationships xmlns="${FORMATS}/package/2006/relationships"><Relationship Id="rId1" Type="${RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${RELATIONS}/styles" Target="styles.xml"/></Relationships>`,
  'xl/styles.xml': `${XML}<styleSheet xmlns="${MAIN}"><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="2"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs></styleSheet>`,
};

/** Before the rows: the headings stay while the others are scrolled. */
const SHEET_BEGIN = `${XML}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>`;
const SHEET_END = '</sheetData></worksheet>';

/** Equal records make equal files. */
const mtime = new Date(2000, 0, 1);

/**
 * Records as an XLSX table, in pieces, with the columns of `csvTable`: numbers and truth values have their types, all others are
 * texts. WrongEntry before the first piece for what no sheet can hold.
 */
export async function* xlsxTable(
  read: () => Batches,
  { declared, isWhole }: Pick<TableOptions, 'declared' | 'isWhole'>,
): AsyncGenerator<Buffer, void> {
  let rows = 1;
  const columns = await columnsOf({ declared, isWhole }, read(), (row) => {
    rows += 1;
    if (rows > MAX_ROWS) throw new WrongEntry('A sheet has at most 1,048,575 records: export them as CSV or NDJSON');
    for (const [name, value] of Object.entries(row.items)) requireShort(row, name, value);
  });
  const { id, items, hasMore } = columns;
  const cell = isWhole ? wholeCell : plainCell;
  const sheet = async function* () {
    let at = 1;
    yield SHEET_BEGIN + rowXml(at, [id.heading, ...items.map(({ heading }) => heading), ...(hasMore ? [MORE] : [])]);
    const rowOf = (row: Row): string => {
      at += 1;
      const cells = [cell(row.id, id), ...items.map((column) => cell(valueIn(row, column), column))];
      return rowXml(at, hasMore ? [...cells, moreCell(row, columns)] : cells);
    };
    for await (const found of rowsOf(read(), rowOf)) yield found.join('');
    yield SHEET_END;
  };
  yield* zipped(sheet());
}

async function* zipped(sheet: AsyncIterable<string>): AsyncGenerator<Buffer, void> {
  const zip = new ZipFile();
  for (const [name, text] of Object.entries(parts)) zip.addBuffer(Buffer.from(text), name, { mtime });
  const source = Readable.from(sheet);
  const output = zip.outputStream as Readable;
  source.once('error', (error) => output.destroy(error));
  zip.addReadStream(source, 'xl/worksheets/sheet1.xml', { mtime });
  zip.end();
  try {
    yield* output as AsyncIterable<Buffer>;
  } finally {
    source.destroy();
  }
}

function requireShort({ id }: Row, name: string, value: Json): void {
  // JSON of a text has a sixth of its characters or more.
  const { length } = typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);
  if (length <= MAX_CELL) return;
  const rest = 'a cell of a sheet has at most 32,767: export as CSV or NDJSON';
  throw new WrongEntry(`The item "${name}" of the record "${id}" has ${length} characters, and ${rest}`);
}

type Value = string | number | boolean | undefined;

/** As people read it: null and a missing item are empty. */
function plainCell(value: Json | undefined): Value {
  if (value === null || value === undefined) return undefined;
  return typeof value === 'object' ? JSON.stringify(value) : value;
}

/** From which an import reads a value back, in the column in which it is. */
function wholeCell(value: Json | undefined, { hasTexts, hasOthers }: Column): Value {
  if (value === undefined) return undefined;
  if (value === null) return NULL;
  if (typeof value === 'object') return JSON.stringify(value);
  if (typeof value !== 'string') return value;
  // A line break of two signs becomes one in spreadsheets.
  const isJson =
    value === '' || value === NULL || value.includes('\r') || (jsonInText.test(value) && jsonOf(value) !== undefined);
  if (isJson || (hasTexts && hasOthers)) return JSON.stringify(value);
  // No sheet reads a text as a formula, but an import takes the apostrophe of CSV away.
  return fromSpreadsheet(value) === value ? value : notFormula(value);
}

const rowXml = (at: number, cells: readonly Value[]): string =>
  `<row r="${at}">${cells.map((value, column) => cellXml(`${lettersOf(column)}${at}`, value)).join('')}</row>`;

function cellXml(at: string, value: Value): string {
  if (value === undefined || value === '') return '';
  if (typeof value === 'number') return `<c r="${at}"><v>${value}</v></c>`;
  if (typeof value === 'boolean') return `<c r="${at}" t="b"><v>${value ? 1 : 0}</v></c>`;
  return `<c r="${at}" s="1" t="inlineStr"><is><t xml:space="preserve">${escaped(value)}</t></is></c>`;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** A text in XML: signs that XML cannot hold, and a text that looks like one of those, as spreadsheets write them. */
const escaped = (text: string): string =>
  text
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    .replace(/[&<>]/g, (sign) => entities[sign] ?? '')
    .replace(/[\u0000-\u0008\u000b-\u001f\ufffe\uffff]|\p{Surrogate}/gu, (sign) => {
      const code = sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
      return `_x${code}_`;
    });

const letters = new Map<number, string>();

/** The letters of a column, from 0: A, B, …, Z, AA. */
function lettersOf(column: number): string {
  const known = letters.get(column);
  if (known !== undefined) return known;
  const found = (column >= 26 ? lettersOf(Math.floor(column / 26) - 1) : '') + String.fromCharCode(65 + (column % 26));
  letters.set(column, found);
  return found;
}
