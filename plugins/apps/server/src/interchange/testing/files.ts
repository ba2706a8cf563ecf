import type { ItemKind } from '../cells';
import { entriesOf, formatOf, openRecords, type ReadOptions, type RecordEntry } from '../entries';
import { readSheet, type SheetRow } from '../sheet-task';
import type { DeclaredItems, RecordRow } from '../table';

export const NONE: DeclaredItems<ItemKind> = { names: [], labels: new Map(), blocks: new Map() };

/** The definitions of an app with one block, by the kinds of its inputs. */
export function declaring(kinds: Record<string, ItemKind['kind'] | ItemKind>, block = 'person'): typeof NONE {
  const inputs = Object.entries(kinds).map(
    ([name, kind]) => [name, typeof kind === 'string' ? { kind } : kind] as const,
  );
  return { names: Object.keys(kinds), labels: new Map(), blocks: new Map([[block, new Map(inputs)]]) };
}

const limits = { unpacked: 1_000_000, rows: 1_000, cells: 10_000 };

/** Opens a file, as all ways in do. */
export function opened(file: string, pieces: (string | Uint8Array)[], options: Partial<ReadOptions> = {}) {
  const bytes = async function* () {
    for (const piece of pieces) yield Buffer.from(piece as string);
  };
  const sheet = async (name: string | undefined) => {
    const whole = Buffer.concat(pieces.map((piece) => Buffer.from(piece as string)));
    const found = await readSheet({ bytes: whole, sheet: name, limits });
    const lines = Buffer.from(found.rows).toString().split('\n').filter(Boolean);
    return { ...found, rows: () => lines.map((line) => JSON.parse(line) as SheetRow).values() as never };
  };
  return openRecords({ bytes, sheet }, { format: formatOf(file), declared: NONE, ...options });
}

/** Records of a test, in the order of creation. */
export const inOrder = (records: readonly Omit<RecordRow, 'seq'>[]): RecordRow[] =>
  records.map((record, at) => ({ ...record, seq: at + 1 }));

/** The records of a file. */
export async function records(file: string, pieces: (string | Uint8Array)[], options: Partial<ReadOptions> = {}) {
  const found: RecordEntry[] = [];
  for await (const entry of entriesOf(await opened(file, pieces, options))) found.push(entry);
  return found;
}
