import type { FailureReason } from '../../../sandbox/src/protocol';
import { AppsError } from '../errors';
import { logicError } from './compile';
import { HostAnswers, type HostAnswersOptions } from './host-answers';
import { brokenError, entryOf, memoryError, rejectedError, sizeError, timeoutError } from './outcome';
import { lostError } from './supervisor/fleet';
import { RunnerBreach } from './supervisor/runner-messages';
import type { Fault, Runner, SessionMessage } from './supervisor/runner-process';
import { isDeep, readHostCalls, readJson } from './wire';

/** Milliseconds after the deadline at which a runner that has said nothing is killed, or a forgotten session closed. */
const grace = 180;

/** Milliseconds that the end of a whole runner counts for: the others have to be run again. */
const crashTime = 2000;

/** Keys remembered for each runner; a program forgotten by either side is sent again. */
const rememberedPrograms = 200;

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

/** The way between one session and its runner: one request at a time, under the deadline, and the host calls meanwhile. */
export class SessionLink {
  readonly host: HostAnswers;
  private readonly id: number;
  private readonly begun = performance.now();
  /** Whether the runner knows of the session. */
  private opened = false;
  /** For the answer of the request that is under way. */
  private waiting: Waiting | null = null;
  /** Tells why the session is over: made when asked for, since every session ends and an error costs its stack. */
  private end: (() => AppsError) | null = null;
  private ended = false;
  private timer: NodeJS.Timeout | undefined;
  /** Whether host calls of the sandbox are being made; it waits for their answer, and can ask for no others. */
  private serving = false;
  /** Functions that the request under way runs. */
  private functions: readonly string[] = [];
  /** Sends `open` again with the program's text, after the runner has forgotten it. Null: it has been sent. */
  private resend: (() => void) | null = null;

  constructor(private readonly options: SessionOptions) {
    this.host = new HostAnswers(options);
    this.id = options.runner.attach({
      receive: (message) => this.receive(message),
      lost: (fault) => this.lost(fault),
    });
    this.watch();
  }

  /** Opens the session in the runner with this request; once, before any `call`. */
  open(data: string, functions: readonly string[]): Promise<string> {
    this.functions = functions;
    const { runner, program } = this.options;
    const send = () => {
      const known = runner.programs.has(program.key);
      if (runner.programs.size >= rememberedPrograms) runner.programs.clear();
      runner.programs.add(program.key);
      const source = known ? undefined : program;
      const remaining = this.remaining();
      runner.send({ type: 'open', session: this.id, program: program.key, source, data, remaining });
    };
    if (runner.programs.has(program.key)) {
      this.resend = () => {
        this.resend = null;
        runner.programs.delete(program.key);
        send();
      };
    }
    return this.ask(() => {
      this.opened = true;
      send();
    });
  }

  /** Makes another request. */
  call(data: string, functions: readonly string[]): Promise<string> {
    this.functions = functions;
    const { runner } = this.options;
    return this.ask(() => runner.send({ type: 'call', session: this.id, data, remaining: this.remaining() }));
  }

  /** Ends the session, in whatever state it is; safe to call twice. */
  close(): void {
    if (this.ended) return;
    const busy = this.waiting !== null;
    this.finish(() => new AppsError('ServiceUnavailableError', 'The logic session has been closed'));
    if (this.opened) this.options.runner.send({ type: busy ? 'stop' : 'close', session: this.id });
  }

  private remaining(): number {
    return this.options.budget.deadline - performance.now();
  }

  private ask(send: () => void): Promise<string> {
    if (this.end) return Promise.reject(this.end());
    if (this.remaining() <= 0) {
      const error = this.lateError('');
      this.stop(error);
      return Promise.reject(error);
    }
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      send();
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
    if (this.waiting) {
      this.options.overLimit(performance.now() - this.begun);
      this.options.runner.kill();
    }
    this.stop(this.lateError(''));
  }

  /** @param stack the sandbox's stack, '' if unknown */
  private lateError(stack: string): AppsError {
    const { limits, program, context } = this.options;
    const block = context.block?.id ?? null;
    return timeoutError(limits, { program, block, functions: this.functions, stack, hostCall: this.host.current });
  }

  /** Throws RunnerBreach for what a runner that works does not send. */
  private receive(message: SessionMessage): void {
    if (message.type === 'host') this.asked(message.data);
    else if (message.type === 'done') this.answered(message.data);
    else if (message.reason === 'unknown-program') this.sendAgain();
    else this.fail(this.failure(message.reason, message.message));
  }

  private asked(data: string): void {
    if (this.serving) throw new RunnerBreach('host calls before the last ones were answered');
    this.serving = true;
    void this.serve(data).catch(() => this.stop(brokenError(this.options.program)));
  }

  private answered(data: string): void {
    const { waiting } = this;
    if (!waiting) throw new RunnerBreach('an answer to no request');
    this.waiting = null;
    waiting.resolve(data);
  }

  private sendAgain(): void {
    if (!this.resend) throw new RunnerBreach('a question for a program that it has');
    this.resend();
  }

  private lost(fault: Fault): void {
    if (fault) this.options.overLimit(crashTime);
    const { program, limits } = this.options;
    if (fault === 'breach') this.fail(brokenError(program));
    else this.fail(fault ? memoryError(program, limits) : lostError());
  }

  private failure(reason: FailureReason, message: string): AppsError {
    const { program, limits } = this.options;
    if (reason === 'time' || reason === 'memory') this.options.overLimit(performance.now() - this.begun);
    if (reason === 'crowded') return lostError();
    if (reason === 'time') return this.lateError(message);
    if (reason === 'memory') return memoryError(program, limits);
    if (reason === 'size') return sizeError(program, limits);
    return reason === 'program' ? logicError(message, { file: entryOf(program) }) : rejectedError(message, program);
  }

  /** Makes the host calls of one message, in order, until one fails. */
  private async serve(data: string): Promise<void> {
    const { program } = this.options;
    const tooMuch = this.host.sizeRefusal(data.length);
    if (tooMuch) return this.refuse(tooMuch);
    if (isDeep(data)) return this.reply(this.host.refused('The arguments are nested too deeply'));
    const calls = readHostCalls(readJson(data));
    if (!calls) return this.stop(brokenError(program));
    const refusal = this.host.refusal(calls);
    if (refusal) return this.refuse(refusal);
    const isOver = () => this.end !== null || this.remaining() <= 0;
    const answer = await this.host.text(calls, isOver);
    // When the time is over, the runner reports it with the stack; a runner that does not answer is killed.
    if (!this.end && this.remaining() > 0) this.reply(answer);
  }

  /** Ends the session for going over a limit. */
  private refuse(error: AppsError): void {
    this.options.overLimit(performance.now() - this.begun);
    this.stop(error);
  }

  private reply(data: string): void {
    this.serving = false;
    this.options.runner.send({ type: 'reply', session: this.id, data });
  }

  /** Ends the session in the runner too, whatever it is doing. */
  private stop(error: AppsError): void {
    if (!this.ended && this.opened) this.options.runner.send({ type: 'stop', session: this.id });
    this.fail(error);
  }

  private fail(error: AppsError): void {
    this.finish(() => error);
    this.waiting?.reject(error);
    this.waiting = null;
  }

  private finish(end: () => AppsError): void {
    this.end ??= end;
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.timer);
    this.options.runner.detach(this.id);
    this.options.onEnd();
  }
}
