import type { Items, Json } from '../../../../shared/json';
import type { CallValue, ContextChanges, PreludeRequest, WireProgram } from '../../../../shared/logic-protocol';
import { type AppsError, logicError } from '../../common/errors';
import type { LogicCall, LogicOutcome, LogicSession } from '../types';
import {
  brokenError,
  endsRequest,
  entryOf,
  isDeep,
  LookedInputs,
  type MessageReader,
  messageSize,
  readAnswer,
  readCalls,
  readOpen,
  readProperties,
  thrownError,
} from './outcome';
import { SessionLink, type SessionOptions } from './session-link';

/** Functions of programs that were opened before, so that the next session does not ask its runner for them. */
const knownFunctions = new WeakMap<WireProgram, ReadonlySet<string>>();

/**
 * Opens a session in a runner. Rejects like `LogicRuntime.open`; for a program that was opened before, the first call
 * rejects instead, because it also opens the session.
 */
export async function openSession(options: SessionOptions): Promise<LogicSession> {
  const session = new RunnerSession(options);
  try {
    await session.open();
    return session;
  } catch (error) {
    session.close();
    throw error;
  }
}

type OpenRequest = Extract<PreludeRequest, { op: 'open' }>;
type LaterRequest = Exclude<PreludeRequest, OpenRequest>;

const namesOf = (calls: LogicCall[]) => calls.map(({ name }) => name);

/** One session: its requests to the sandbox, and their answers. */
class RunnerSession implements LogicSession {
  functions: ReadonlySet<string> = new Set();
  private readonly link: SessionLink;
  /** The request that opens the session, until it is sent. */
  private opening: OpenRequest | null;
  private queue: Promise<unknown> = Promise.resolve();
  /** Parts of `context` that the next request replaces. */
  private changes: ContextChanges = {};
  /** Maximal bytes of the last answer. */
  private answerSize = 0;
  private readonly inputs = new LookedInputs();

  constructor(private readonly options: SessionOptions) {
    const { program, context, limits } = options;
    const { resultSize, logEntrySize } = limits;
    const sizes = { resultSize, logEntrySize, messageSize: messageSize(limits) };
    const now = options.now?.() ?? undefined;
    this.opening = { op: 'open', entry: entryOf(program), context, limits: sizes, ...(now !== undefined && { now }) };
    this.link = new SessionLink(options);
  }

  get looked(): ReadonlySet<string> {
    return this.inputs.all;
  }

  async open(): Promise<void> {
    const known = knownFunctions.get(this.options.program);
    if (known) this.functions = known;
    else await this.openWith([]);
  }

  call(calls: LogicCall[]): Promise<LogicOutcome[]> {
    return this.enqueue(async () => {
      const outcomes = this.opening
        ? await this.openWith(calls)
        : await this.request({ op: 'call', calls }, readCalls(calls.length));
      return outcomes.map((outcome, at): LogicOutcome => {
        const { name, contained } = calls[at] as LogicCall;
        const tooLarge = 'error' in outcome ? null : this.tooLarge(name, outcome.value);
        if (tooLarge && !contained) throw tooLarge;
        if (tooLarge) return { ok: false, error: tooLarge };
        if (!('error' in outcome)) return { ok: true, ...outcome };
        const error = this.errorOf(outcome.error);
        if (endsRequest(error)) throw error;
        return { ok: false, error };
      });
    });
  }

  properties(): Promise<Items> {
    return this.enqueue(async () => {
      if (this.opening) await this.openWith([]);
      return this.request({ op: 'properties' }, readProperties);
    });
  }

  setContext(changes: ContextChanges): void {
    this.changes = { ...this.changes, ...changes };
  }

  close(): void {
    this.link.close();
  }

  /** The error of a result that is too large. The prelude has checked the size, but some programs can bypass the prelude. */
  private tooLarge(name: string, value: Json): AppsError | null {
    const { limits, program } = this.options;
    const isSmall =
      this.answerSize <= limits.resultSize || Buffer.byteLength(JSON.stringify(value)) <= limits.resultSize;
    if (isSmall) return null;
    return logicError(`The result of ${name} is larger than ${limits.resultSize} bytes`, { file: entryOf(program) });
  }

  /** One request at a time; after a failed one the next still runs. */
  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    const request = this.queue.then(work);
    this.queue = request.catch(() => undefined);
    return request;
  }

  /** Opens the session in the runner, together with its first calls. */
  private async openWith(calls: LogicCall[]): Promise<CallValue> {
    const { context, ...opening } = this.opening as OpenRequest;
    const changed = { ...context, ...this.changes };
    this.opening = null;
    this.changes = {};
    const request: OpenRequest = { context: changed, calls, ...opening };
    const answer = this.link.open(JSON.stringify(request), namesOf(calls));
    const { functions, outcomes } = await this.valueOf(answer, readOpen(calls.length));
    this.functions = new Set(functions);
    knownFunctions.set(this.options.program, this.functions);
    return outcomes;
  }

  private async request<Value>(request: LaterRequest, read: MessageReader<Value>): Promise<Value> {
    const data = JSON.stringify({ ...request, ...this.changes });
    this.changes = {};
    return this.valueOf(this.link.call(data, namesOf('calls' in request ? request.calls : [])), read);
  }

  private errorOf(error: Parameters<typeof thrownError>[0]) {
    return thrownError(error, this.options.program, this.link.host.errors);
  }

  private async valueOf<Value>(answered: Promise<string>, read: MessageReader<Value>): Promise<Value> {
    const data = await answered.catch((error: unknown) => {
      this.inputs.addEverything();
      throw error;
    });
    // A character has at most three bytes.
    this.answerSize = data.length * 3;
    const answer = readAnswer(data, read);
    if (answer) this.inputs.add(answer.looked);
    else {
      this.inputs.addEverything();
      const { program } = this.options;
      throw isDeep(data)
        ? logicError('A result is nested too deeply', { file: entryOf(program) })
        : brokenError(program);
    }
    if ('error' in answer) throw this.errorOf(answer.error);
    return answer.value;
  }
}
