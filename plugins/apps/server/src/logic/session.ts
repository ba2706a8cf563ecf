import type { PreludeRequest } from '../../../sandbox/src/prelude/types';
import type { FailureReason, WireProgram } from '../../../sandbox/src/protocol';
import type { Items } from '../../../shared/json';
import { AppsError } from '../errors';
import { logicError } from './compile';
import { HostAnswers, type HostAnswersOptions } from './host-answers';
import { brokenError, endsRequest, entryOf, memoryError, thrownError, timeoutError } from './outcome';
import { lostError } from './supervisor/fleet';
import type { Runner, SessionMessage } from './supervisor/runner-process';
import type { LogicCall, LogicOutcome, LogicSession, RecordData } from './types';
import { type Reader, readAnswer, readCalls, readHostCalls, readJson, readOpen, readProperties } from './wire';

/** Milliseconds after the deadline at which a runner that has said nothing is killed, or a forgotten session closed. */
const grace = 100;

/** Milliseconds that the end of a whole runner counts for: the others have to be run again. */
const crashTime = 2000;

/** Keys remembered for each runner; a program forgotten by either side is sent again. */
const rememberedPrograms = 200;

/** Characters of one message out of the sandbox, as a multiple of the result limit. */
export const messageFactor = 2;

export interface SessionOptions extends HostAnswersOptions {
  runner: Runner;
  /** Told when the logic went over a limit: milliseconds of the sandbox that it took. */
  overLimit(time: number): void;
  /** Called once, when the session no longer needs its place. */
  onEnd(): void;
}

interface Waiting {
  resolve(data: string): void;
  reject(error: AppsError): void;
}

/** Functions of programs that have been opened before: who opens one again need not wait to know them. */
const knownFunctions = new WeakMap<WireProgram, ReadonlySet<string>>();

/**
 * Opens a session in a runner. Rejects as `LogicRuntime.open` says; for a program that was opened before, the first call
 * does instead.
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

/** The server's end of one session. */
class RunnerSession implements LogicSession {
  functions: ReadonlySet<string> = new Set();
  private readonly id: number;
  private readonly begun = performance.now();
  private readonly host: HostAnswers;
  /** For answers, in the order in which they will come. */
  private readonly waiting: Waiting[] = [];
  /** The answer to `open`. */
  private opened: Promise<void> = Promise.resolve();
  private opening = true;
  /** Sends again what was sent after `open`, if that has to be repeated. */
  private later: ((remaining: number) => void)[] = [];
  private queue: Promise<unknown> = Promise.resolve();
  /** What `context.record` becomes with the next request; undefined: no change. */
  private record: RecordData | null | undefined;
  /** Why the session is over. */
  private end: AppsError | null = null;
  private ended = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: SessionOptions) {
    this.host = new HostAnswers(options);
    this.id = options.runner.attach({
      receive: (message) => this.receive(message),
      lost: (guilty) => this.lost(guilty),
    });
    this.watch();
  }

  async open(): Promise<void> {
    const { program, context, limits } = this.options;
    const { resultSize, logEntrySize } = limits;
    const sizes = { resultSize, logEntrySize, messageSize: resultSize * messageFactor };
    const request: PreludeRequest = { op: 'open', entry: entryOf(program), context, limits: sizes };
    const data = JSON.stringify(request);
    this.opened = this.ask(() => this.sendOpen(data)).then((answer) => {
      this.opening = false;
      this.later = [];
      this.functions = new Set(this.valueOf(answer, readOpen).functions);
      knownFunctions.set(program, this.functions);
    });
    const known = knownFunctions.get(program);
    if (!known) return this.opened;
    this.functions = known;
    this.opened.catch(() => knownFunctions.delete(program));
  }

  call(calls: LogicCall[]): Promise<LogicOutcome[]> {
    return this.inTurn(async () => {
      const outcomes = this.valueOf(await this.request({ op: 'call', calls }), readCalls(calls.length));
      return outcomes.map((outcome): LogicOutcome => {
        if (!('error' in outcome)) return { ok: true, ...outcome };
        const error = this.errorOf(outcome.error);
        if (endsRequest(error)) throw error;
        return { ok: false, error };
      });
    });
  }

  properties(): Promise<Items> {
    return this.inTurn(async () => this.valueOf(await this.request({ op: 'properties' }), readProperties));
  }

  setRecord(record: RecordData | null): void {
    this.record = record;
  }

  close(): void {
    if (this.ended) return;
    const busy = this.waiting.length > 0;
    if (this.opening && this.waiting.length === 1) {
      // Nothing was called: the isolate is worth waiting for.
      this.opening = false;
      const close = () => this.close();
      this.opened.then(close, close);
      return;
    }
    this.finish(new AppsError('ServiceUnavailableError', 'The logic session has been closed'));
    this.options.runner.send({ type: busy ? 'stop' : 'close', session: this.id });
  }

  /** One request at a time; one that fails does not keep the next from being asked. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.queue.then(work);
    this.queue = turn.catch(() => undefined);
    return turn;
  }

  private request(request: Extract<PreludeRequest, { op: 'call' | 'properties' }>): Promise<string> {
    const data = JSON.stringify(this.record === undefined ? request : { ...request, record: this.record });
    this.record = undefined;
    const send = (remaining: number) => this.options.runner.send({ type: 'call', session: this.id, data, remaining });
    if (this.opening) this.later.push(send);
    // The error of `open` comes first, and says more.
    return Promise.all([this.ask(send), this.opened]).then(([answer]) => answer);
  }

  private sendOpen(data: string): void {
    const { runner, program } = this.options;
    const known = runner.programs.has(program.key);
    if (runner.programs.size >= rememberedPrograms) runner.programs.clear();
    runner.programs.add(program.key);
    const remaining = this.remaining();
    const source = known ? undefined : program;
    runner.send({ type: 'open', session: this.id, program: program.key, source, data, remaining });
    this.resend = () => {
      runner.programs.delete(program.key);
      this.sendOpen(data);
    };
  }

  /** Sends the program again with its text, after the runner has forgotten it. */
  private resend: () => void = () => undefined;

  private repeat(): void {
    this.resend();
    for (const send of this.later) send(this.remaining());
  }

  private remaining(): number {
    return this.options.budget.deadline - performance.now();
  }

  private ask(send: (remaining: number) => void): Promise<string> {
    if (this.end) return Promise.reject(this.end);
    const remaining = this.remaining();
    if (remaining <= 0) {
      this.stop(timeoutError(this.options.limits));
      return Promise.reject(this.end);
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      send(remaining);
    });
  }

  /** Looks again after the deadline: a session without an answer has a stuck runner, one at rest was forgotten. */
  private watch(): void {
    this.timer = setTimeout(() => {
      // The deadline may have moved. An answer may wait unread if this process was busy itself: read first.
      if (this.remaining() > 0) this.watch();
      else setImmediate(() => this.overdue());
    }, Math.max(0, this.remaining()) + grace);
  }

  private overdue(): void {
    if (this.ended) return;
    if (this.waiting.length > 0) {
      this.options.overLimit(performance.now() - this.begun);
      this.options.runner.kill();
    }
    this.stop(timeoutError(this.options.limits));
  }

  private receive(message: SessionMessage): void {
    if (message.type === 'host')
      void this.serve(message.data).catch(() => this.stop(brokenError(this.options.program)));
    else if (message.type === 'done') this.waiting.shift()?.resolve(message.data);
    else if (message.reason === 'unknown-program') this.repeat();
    else this.fail(this.failure(message.reason, message.message));
  }

  private lost(guilty: boolean): void {
    if (guilty) this.options.overLimit(crashTime);
    this.fail(guilty ? memoryError(this.options.program, this.options.limits) : lostError());
  }

  private failure(reason: FailureReason, message: string): AppsError {
    const { program, limits } = this.options;
    if (reason === 'time' || reason === 'memory') this.options.overLimit(performance.now() - this.begun);
    if (reason === 'time') return timeoutError(limits);
    if (reason === 'memory') return memoryError(program, limits);
    return reason === 'program' ? logicError(message, { file: entryOf(program) }) : brokenError(program);
  }

  /** Makes the host calls of one message, in order, until one fails. */
  private async serve(data: string): Promise<void> {
    const { limits, program } = this.options;
    const calls = readHostCalls(readJson(data));
    if (!calls) return this.stop(brokenError(program));
    const refusal = this.host.refusal(calls);
    if (refusal) {
      this.options.overLimit(performance.now() - this.begun);
      return this.stop(refusal);
    }
    const answer = await this.host.text(calls);
    if (this.end) return;
    if (this.remaining() <= 0) return this.stop(timeoutError(limits));
    this.options.runner.send({ type: 'reply', session: this.id, data: answer });
  }

  private errorOf(error: Parameters<typeof thrownError>[0]): AppsError {
    return thrownError(error, this.options.program, this.host.errors);
  }

  private valueOf<Value>(data: string, read: Reader<Value>): Value {
    const answer = readAnswer(data, read);
    if (!answer) throw brokenError(this.options.program);
    if ('error' in answer) throw this.errorOf(answer.error);
    return answer.value;
  }

  /** Ends the session in the runner too, whatever it is doing. */
  private stop(error: AppsError): void {
    if (!this.ended) this.options.runner.send({ type: 'stop', session: this.id });
    this.fail(error);
  }

  private fail(error: AppsError): void {
    this.finish(error);
    for (const { reject } of this.waiting.splice(0)) reject(error);
  }

  private finish(error: AppsError): void {
    this.end ??= error;
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.timer);
    this.options.runner.detach(this.id);
    this.options.onEnd();
  }
}
