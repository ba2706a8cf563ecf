/** Records as files, CSV or NDJSON: read and written by the command line and the admin panel. */

export { type Entry, entriesOf, type Format, formatOf, type Line, linesOfFile, WrongEntry } from './entries';
export { csvTable, type TableOptions } from './table';
