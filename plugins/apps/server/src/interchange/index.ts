/** Records as files, CSV, XLSX or NDJSON: read and written by HTTP, the command line and the admin panel. */

export type { ItemKind } from './cells';
export {
  type Entry,
  entriesOf,
  type FileColumn,
  type Format,
  formatOf,
  type Line,
  openRecords,
  type ReadChoices,
  type RecordFile,
} from './entries';
export { createSheets, type Sheet, type Sheets } from './sheets';
export { type Batches, csvTable, type DeclaredItems, labelsOf, type TableOptions } from './table';
export { WrongEntry } from './text';
export { XLSX_TYPE, xlsxTable } from './xlsx';
