/** Records as files, CSV, XLSX or NDJSON: read and written by HTTP, the command line and the admin panel. */

export type { ItemKind } from './cells';
export {
  entriesOf,
  type FileColumn,
  type Format,
  formatOf,
  type Line,
  openRecords,
  type ReadChoices,
  type RecordEntry,
  type RecordFile,
} from './entries';
export { ColumnsChanged, csvTable, type DeclaredItems, labelsOf, type RowBatches, type TableOptions } from './table';
export { WrongEntry } from './text';
export { createSheets, type Sheet, type Sheets, XLSX_TYPE, xlsxTable } from './xlsx';
