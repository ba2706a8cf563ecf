import { AppsError, isAppsError, unavailable } from '../common/errors';
import type { SandboxConfig } from '../config.types';
import { createSemaphore, createWorkers, WorkerFailure } from '../workers';
import type { SheetInput, SheetLimits, SheetOutput, SheetRow } from './sheet-task';

/** Bytes of an XLSX file. */
export const MAX_SHEET_FILE = 20 * 1024 * 1024;
/** Bytes of its cells, unpacked; rows and cells of the sheet. */
export const MAX_UNPACKED = 64 * 1024 * 1024;
export const MAX_SHEET_ROWS = 100_000;
export const MAX_SHEET_CELLS = 1_000_000;

const limits: SheetLimits = { unpacked: MAX_UNPACKED, rows: MAX_SHEET_ROWS, cells: MAX_SHEET_CELLS };

/** Megabytes of V8's old space, milliseconds of the processor. */
const MEMORY = 768;
const TIME = 20_000;
/** Files that wait for the process, half of them of one app; milliseconds that one waits. */
export const MAX_WAITING = 8;
const MAX_WAIT = 30_000;

/** A sheet that was read. */
export interface Sheet extends Omit<SheetOutput, 'rows'> {
  /** Its rows that are not empty. */
  rows(): Generator<SheetRow>;
}

/** Reads XLSX files in a process of its own, one at a time. */
export interface Sheets {
  /** @param user who is to have no more than a share of the queue  @param sheet its name; the first without it */
  read(user: string, bytes: AsyncIterable<Uint8Array>, sheet: string | undefined): Promise<Sheet>;
  destroy(): Promise<void>;
}

interface Options {
  /** The built worker program. */
  path: string;
  sandbox: SandboxConfig;
  logger: { error(message: string): void };
}

/** Packages that the task loads, besides which its process can read no others. */
export const sheetPackages = ['@e965/xlsx', 'yauzl'];

export function createSheets({ path, sandbox, logger }: Options): Sheets {
  const busy = () => unavailable('The server is busy with other spreadsheets, try again soon', 5);
  const semaphore = createSemaphore({ permits: 1, queue: MAX_WAITING, share: (all) => Math.ceil(all / 2), busy });
  const access = { packages: sheetPackages };
  const workers = createWorkers({ path, count: 1, memory: MEMORY, kept: 0, sandbox, logger, access });
  return {
    async read(user, bytes, sheet) {
      // Only with a permit it is in memory.
      const release = await semaphore.acquire(user, MAX_WAIT);
      try {
        const input: SheetInput = { bytes: await collected(bytes), sheet, limits };
        const output = (await workers.run('readSheet', input, { time: TIME, byProcessor: true })) as SheetOutput;
        return { sheets: output.sheets, sheet: output.sheet, rows: () => rowsOf(Buffer.from(output.rows)) };
      } catch (error) {
        if (!(error instanceof WorkerFailure) || isAppsError(error)) throw error;
        throw new AppsError('BadRequestError', 'Reading the workbook takes too much: save it as CSV', { cause: error });
      } finally {
        release();
      }
    },
    destroy: workers.destroy,
  };
}

async function collected(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (size > MAX_SHEET_FILE) {
      const most = `${MAX_SHEET_FILE / 1024 ** 2} MB`;
      throw new AppsError('PayloadTooLargeError', `An XLSX file has at most ${most}: save it as CSV`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Line by line, so that the cells of a large sheet are not in memory twice. */
function* rowsOf(lines: Buffer): Generator<SheetRow> {
  for (let start = 0; start < lines.length; ) {
    const end = lines.indexOf(0x0a, start);
    const stop = end < 0 ? lines.length : end;
    yield JSON.parse(lines.toString('utf8', start, stop)) as SheetRow;
    start = stop + 1;
  }
}
