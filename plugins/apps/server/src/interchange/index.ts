/** Records as files, CSV or NDJSON: read and written by the command line and the admin panel. */

export { cellOf, csvText, fromSpreadsheet, itemNames, notFormula } from './csv';
export { type Entry, entriesOf, type Format, formatOf, type Line, linesOfFile, WrongEntry } from './entries';
