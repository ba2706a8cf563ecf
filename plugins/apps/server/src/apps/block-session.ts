import type { Items, Json } from '../../../shared/json';
import type { LogicCall, LogicOutcome, LogicProgram } from '../logic/types';
import type { StoredRecord } from '../records/types';
import { contextData, recordData } from './context-data';
import { noteFailure } from './failures';
import { logicHost } from './logic-host';
import type { Run } from './run';
import type { App, Block } from './types';

/** The logic of a block within a run; a block without a logic file has one without functions. */
export interface BlockSession {
  /** Names of the functions that the block's logic offers. */
  readonly functions: ReadonlySet<string>;
  has(name: string): boolean;
  /** Values by name of those functions that exist; the first failure is thrown. */
  run(names: readonly string[]): Promise<Map<string, Json>>;
  /** The same, but failures are outcomes: one of them does not keep the others from running. */
  tryAll(names: readonly string[]): Promise<Map<string, LogicOutcome>>;
  properties(): Promise<Items>;
  setRecord(record: StoredRecord | null): void;
  close(): void;
}

const emptySession: BlockSession = {
  functions: new Set(),
  has: () => false,
  run: async () => new Map(),
  tryAll: async () => new Map(),
  properties: async () => ({}),
  setRecord: () => undefined,
  close: () => undefined,
};

/** Opens the block's logic for `work`, and frees it afterwards. */
export async function withSession<T>(
  run: Run,
  block: Block,
  record: StoredRecord | null,
  work: (session: BlockSession) => Promise<T>,
): Promise<T> {
  const session = await openBlock(run, block, record);
  try {
    return await work(session);
  } finally {
    session.close();
  }
}

/** Opens the block's logic with `record` as `context.record`. LogicError when the file does not load. */
export async function openBlock(run: Run, block: Block, record: StoredRecord | null): Promise<BlockSession> {
  if (!block.logic) return emptySession;
  const program = programOf(run.app, block.logic);
  const noting = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error) => {
      noteFailure(block, error);
      throw error;
    });
  const { logic } = run.services;
  const session = await noting(logic.open(program, contextData(run, block, record), logicHost(run), run.budget));

  const call = async (names: readonly string[], isContained: boolean): Promise<[string, LogicOutcome][]> => {
    const calls: LogicCall[] = names
      .filter((name) => session.functions.has(name))
      .map((name) => ({ name, contained: isContained }));
    if (calls.length === 0) return [];
    const outcomes = await noting(interrupted(run, session.call(calls)));
    for (const outcome of outcomes) if (!outcome.ok) noteFailure(block, outcome.error);
    return outcomes.map((outcome, index) => [(calls[index] as LogicCall).name, outcome]);
  };

  return {
    functions: session.functions,
    has: (name) => session.functions.has(name),
    async run(names) {
      const values = new Map<string, Json>();
      for (const [name, outcome] of await call(names, false)) {
        if (!outcome.ok) throw outcome.error;
        values.set(name, outcome.value);
      }
      return values;
    },
    tryAll: async (names) => new Map(await call(names, true)),
    properties: () => session.properties(),
    setRecord: (changed) => session.setRecord(changed && recordData(run, run.app, changed)),
    close: () => session.close(),
  };
}

/** The end of the attempt goes before whatever the logic made of it. */
async function interrupted<T>(run: Run, work: Promise<T>): Promise<T> {
  try {
    const result = await work;
    if (run.fatal.error !== undefined) throw run.fatal.error;
    return result;
  } catch (error) {
    throw run.fatal.error ?? error;
  }
}

/** The program of a block's logic file, at the revision of its app. */
export function programOf(app: App, logic: NonNullable<Block['logic']>): LogicProgram {
  const { site, themeId, revision, files } = app.folder;
  return { scope: `${site.id}/${themeId}/${app.id}`, revision, path: logic.path, language: logic.language, files };
}
