import type { Items, Json } from '../../../../shared/json';
import { isBlockFailure } from '../../common/errors';
import type { LogicCall, LogicOutcome, LogicProgram } from '../../logic/types';
import type { StoredRecord } from '../../records/types';
import { logicHost } from '../host-calls/logic-host';
import { contextData, recordData } from '../run/context-data';
import { traceBlock, traceFailure } from '../run/diagnostics/trace';
import { shownRecord } from '../run/files';
import type { Refusals } from '../run/refusals';
import type { Run } from '../run/types';
import type { App, Block } from '../types';

/** The logic of a block within a run; without functions for a block without a logic file. */
export interface BlockSession {
  /** Names of the functions of the block's logic. */
  readonly functions: ReadonlySet<string>;
  has(name: string): boolean;
  /**
   * Runs those of the functions that exist; returns their values by name, throws the first failure.
   * @param mayRefuse whether they may call `context.invalid`
   */
  run(names: readonly string[], mayRefuse?: boolean): Promise<Map<string, Json>>;
  /** Runs those of the functions that exist; a failure is an outcome and does not end the others. */
  tryAll(names: readonly string[], mayRefuse?: boolean): Promise<Map<string, LogicOutcome>>;
  properties(): Promise<Items>;
  setRecord(record: StoredRecord | null): Promise<void>;
  /**
   * Sets what `context.request` has of the form and the body, for a record that did not come by a form: `validate` reads it as
   * if it had (docs/reference/logic.md#own-validation). Fields of the request's own form that are not among them stay.
   */
  setSent(form: Items, body: Json): void;
  close(): void;
}

const emptySession: BlockSession = {
  functions: new Set(),
  has: () => false,
  run: async () => new Map(),
  tryAll: async () => new Map(),
  properties: async () => ({}),
  setRecord: async () => undefined,
  setSent: () => undefined,
  close: () => undefined,
};

/** Opens the block's logic for `work`, and closes it afterwards. */
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
  const remembering = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error) => {
      traceFailure(run, block, error);
      throw error;
    });
  const { logic } = run.services;
  const traceCalls = traceBlock(run, block);
  const shown = await shownRecord(run, record);
  const session = await remembering(
    logic.open(program, contextData(run, block, shown), logicHost(run, block), run.budget),
  );
  const noteInputs = () => run.visit.inputs?.lookAll(session.looked);
  // It has the whole item, and what it uses of that is not noted.
  run.visit.inputs?.look('content');
  noteInputs();

  const call = async (
    names: readonly string[],
    isContained: boolean,
    mayRefuse = false,
  ): Promise<[string, LogicOutcome][]> => {
    const calls: LogicCall[] = names
      .filter((name) => session.functions.has(name))
      .map((name) => ({ name, contained: isContained }));
    if (calls.length === 0) return [];
    traceCalls(calls.map(({ name }) => name));
    const work = whileOpen(run.refusals, mayRefuse, () => session.call(calls));
    const outcomes = await remembering(interrupted(run, work).finally(noteInputs));
    for (const outcome of outcomes) if (!outcome.ok) traceFailure(run, block, outcome.error);
    return calls.flatMap(({ name }, index) => {
      const outcome = outcomes[index];
      return outcome ? [[name, outcome]] : [];
    });
  };

  return {
    functions: session.functions,
    has: (name) => session.functions.has(name),
    async run(names, mayRefuse) {
      const values = new Map<string, Json>();
      for (const [name, outcome] of await call(names, false, mayRefuse)) {
        if (!outcome.ok) throw outcome.error;
        values.set(name, outcome.value);
      }
      return values;
    },
    tryAll: async (names, mayRefuse) => new Map(await call(names, true, mayRefuse)),
    async properties() {
      const properties = await session.properties();
      noteInputs();
      return properties;
    },
    async setRecord(changed) {
      const record = await shownRecord(run, changed);
      session.setContext({ record: record && recordData(run, run.app, record) });
    },
    setSent(form, body) {
      const { request } = run.visit;
      session.setContext({ request: { ...request, form: { ...request.form, ...form }, body } });
    },
    close: () => session.close(),
  };
}

/** Functions of a block that this one shows or saves meanwhile have their own setting. */
async function whileOpen<T>(refusals: Refusals, isOpen: boolean, work: () => Promise<T>): Promise<T> {
  const before = refusals.isOpen;
  refusals.isOpen = isOpen;
  try {
    return await work();
  } finally {
    refusals.isOpen = before;
  }
}

/**
 * Throws the attempt's fatal error first, even if the logic has caught it. Of two failures of logic the one that it has thrown has the
 * position.
 */
async function interrupted(run: Run, work: Promise<LogicOutcome[]>): Promise<LogicOutcome[]> {
  const { fatal } = run;
  const thrown = (error: unknown) =>
    fatal.error === undefined || (isBlockFailure(fatal.error) && isBlockFailure(error)) ? error : fatal.error;
  const outcomes = await work.catch((error: unknown) => {
    throw thrown(error);
  });
  if (fatal.error === undefined) return outcomes;
  const failed = outcomes.find((outcome) => !outcome.ok);
  throw thrown(failed && !failed.ok ? failed.error : fatal.error);
}

/** The program of a block's logic file, at the revision of its app. */
export function programOf(app: App, logic: NonNullable<Block['logic']>): LogicProgram {
  const { site, themeId, revision, files } = app.folder;
  return { scope: `${site.id}/${themeId}/${app.id}`, revision, path: logic.path, language: logic.language, files };
}

/** `{name}`, `{name.key}` or `{name[key]}`. No two parts match the same characters, so that matching takes linear time. */
const PLACEHOLDER = /\{([\w-][\w.-]*)((?:\[[^[\]{}]*\])*)\}/g;

/** Characters of a title. */
const MAX_TITLE = 300;

/**
 * The title of a page (docs/reference/definitions.md#title): plain text, '' if nothing of it has a value.
 * @param value of an element; undefined if it is not declared
 * @param onUndeclared called for such a name
 */
export async function titleText(
  title: string,
  value: (name: string) => Promise<Json | undefined>,
  onUndeclared: (name: string) => void,
): Promise<string> {
  const texts = new Map<string, string>();
  for (const placeholder of title.match(PLACEHOLDER) ?? []) {
    if (texts.has(placeholder)) continue;
    const [name = '', ...keys] = placeholder.slice(1, -1).replaceAll(']', '').split('[');
    const found = await readValue(name, keys, value);
    if (found === undefined) onUndeclared(name);
    texts.set(placeholder, plain(found));
  }
  const whole = title.replace(PLACEHOLDER, (placeholder) => texts.get(placeholder) ?? '');
  return whole.replace(/\s+/g, ' ').trim().slice(0, MAX_TITLE);
}

/** A `.` may be part of a name or come before a key: the longest declared name counts, as in layouts. */
async function readValue(
  name: string,
  keys: readonly string[],
  value: (name: string) => Promise<Json | undefined>,
): Promise<Json | undefined> {
  for (let end = name.length; end > 0; end = name.lastIndexOf('.', end - 1)) {
    const found = await value(name.slice(0, end));
    if (found === undefined) continue;
    const rest = end === name.length ? [] : name.slice(end + 1).split('.');
    return [...rest, ...keys].reduce(part, found);
  }
  return undefined;
}

function part(whole: Json, key: string): Json {
  if (typeof whole !== 'object' || whole === null || !Object.hasOwn(whole, key)) return null;
  return (whole as Record<string, Json>)[key] ?? null;
}

function plain(value: Json | undefined): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(plain).filter(Boolean).join(', ');
  return typeof value === 'object' ? '' : String(value).slice(0, MAX_TITLE);
}
