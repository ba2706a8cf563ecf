import type { FailureReason, RequestTime } from '../../../../shared/logic-protocol';
import { AppsError } from '../../common/errors';
import { processClock } from '../../common/time/process-clock';
import type { Fault, Runner, SessionMessage } from '../supervisor/runner';
import { RunnerBreach } from '../supervisor/runner';
import { againError } from '../supervisor/runner-pool';
import { HostAnswers, type HostAnswersOptions } from './host-answers';
import { brokenError, isDeep, readHostCalls, readJson } from './outcome';
import { failureError, faultError, lateError, remainingTime, SessionDeadline } from './session-limits';

/** Milliseconds that the circuit breaker counts for the end of a whole runner: its other sessions must run again. */
const crashTime = 2000;

export interface SessionOptions extends HostAnswersOptions {
  runner: Runner;
  /** The time at which the session's clock stands still; null, or no function: it runs. */
  now?: (() => number | null) | undefined;
  /** Called when the logic exceeded a limit, with the milliseconds of the sandbox that it took. */
  overLimit(time: number): void;
  /** Called once, when the session no longer needs its permit. */
  onEnd(): void;
}

interface Waiting {
  resolve(data: string): void;
  reject(error: AppsError): void;
}

/** The connection of a session to its runner: one request at a time, within the deadline, and its host calls. */
export class SessionLink {
  readonly host: HostAnswers;
  private readonly id: number;
  private readonly begun = processClock.now();
  private readonly stops = processClock.stops();
  private readonly deadline: SessionDeadline;
  /** Whether the runner knows of the session. */
  private opened = false;
  /** Receives the answer of the running request. */
  private waiting: Waiting | null = null;
  /** Makes the error of a session that is over; lazily, since every session ends and the stack of an error is expensive. */
  private end: (() => AppsError) | null = null;
  private ended = false;
  /** Whether the request was answered as late while the runner has not yet ended the session. */
  private isOverdue = false;
  /** Whether host calls are running; the sandbox waits for their answer and may send no others. */
  private serving = false;
  /** Bytes by which the memory of the session has grown. */
  private memory = 0;
  /** Functions of the running request. */
  private functions: readonly string[] = [];
  /** Sends `open` again, with the program's text. Null: the runner has been sent it. */
  private openAgain: (() => void) | null = null;

  private readonly pausable = {
    pause: () => this.options.runner.send({ type: 'pause', session: this.id }),
    resume: () => this.options.runner.send({ type: 'resume', session: this.id }),
  };

  constructor(private readonly options: SessionOptions) {
    this.host = new HostAnswers(options);
    this.id = options.runner.attach({
      receive: (message) => this.receive(message),
      lost: (fault) => this.lost(fault),
    });
    this.deadline = new SessionDeadline({
      remaining: () => this.remaining(),
      overdue: () => this.overdue(),
      stuck: () => this.stuck(),
    });
  }

  /** Opens the session in the runner with its first request; once, before any `call`. */
  open(data: string, functions: readonly string[]): Promise<string> {
    this.functions = functions;
    return this.ask(() => {
      this.opened = true;
      this.sendOpen(data);
    });
  }

  /** Sends another request. */
  call(data: string, functions: readonly string[]): Promise<string> {
    this.functions = functions;
    const { runner } = this.options;
    return this.ask(() => runner.send({ type: 'call', session: this.id, data, ...this.time() }));
  }

  /** Ends the session in any state; safe to call twice. An overdue one keeps its permit until its runner has ended it. */
  close(): void {
    if (this.ended || this.isOverdue) return;
    const busy = this.waiting !== null;
    this.end ??= () => new AppsError('ServiceUnavailableError', 'The logic session has been closed');
    this.finish(busy);
    if (this.opened) this.options.runner.send({ type: busy ? 'stop' : 'close', session: this.id });
  }

  /** The program's text is part of the message unless the runner has it, as far as is known. */
  private sendOpen(data: string): void {
    const { runner, program } = this.options;
    const isKnown = runner.programs.has(program.key);
    runner.programs.set(program.key, true);
    this.openAgain = isKnown ? () => this.sendForgotten(data) : null;
    const source = isKnown ? undefined : program;
    runner.send({ type: 'open', session: this.id, program: program.key, source, data, ...this.time() });
  }

  private sendForgotten(data: string): void {
    this.options.runner.programs.delete(this.options.program.key);
    this.sendOpen(data);
  }

  private remaining(): number {
    return remainingTime(this.options.budget.shared);
  }

  private time(): RequestTime {
    const remaining = this.remaining();
    return { remaining, latest: remaining + this.options.budget.shared.delays };
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

  /** Answers a request whose runner has not reported the end of its time; a session without a request was forgotten. */
  private overdue(): boolean {
    const error = this.lateError('');
    if (!this.waiting) {
      this.stop(error);
      return false;
    }
    this.isOverdue = true;
    this.options.overLimit(processClock.now() - this.begun);
    this.reject(error);
    return true;
  }

  private stuck(): void {
    this.options.runner.kill();
    this.finish();
  }

  /** @param stack the sandbox's stack, '' if unknown */
  private lateError(stack: string): AppsError {
    return lateError(this.options, { functions: this.functions, stack, hostCall: this.host.current });
  }

  /** Throws RunnerBreach for messages that no working runner sends. */
  private receive(message: SessionMessage): void {
    if (this.isOverdue) this.receiveLate(message);
    else if (message.type === 'host') this.asked(message.data);
    else if (message.type === 'used') this.grown(message.bytes);
    else if (message.type === 'delayed') this.delayed(message.time);
    else if (message.type === 'done') this.answered(message.data);
    else if (message.reason === 'unknown-program') this.sendAgain();
    else this.fail(this.failure(message.reason, message.message));
  }

  /** A session that was answered as late ends with any message but a host call, which gets no reply any more, and its memory. */
  private receiveLate({ type }: SessionMessage): void {
    if (type === 'host' || type === 'used') return;
    // Of a session that the runner has not ended.
    if (type !== 'failed') this.options.runner.send({ type: 'stop', session: this.id });
    this.finish();
  }

  private asked(data: string): void {
    if (this.serving) throw new RunnerBreach('host calls before the last ones were answered');
    this.serving = true;
    this.options.budget.shared.inCall.add(this.pausable);
    void this.serve(data).catch(() => this.stop(brokenError(this.options.program)));
  }

  /** The number is the runner's: it is shown, and decides nothing. */
  private grown(bytes: number): void {
    this.options.budget.shared.memory += Math.max(0, bytes - this.memory);
    this.memory = Math.max(this.memory, bytes);
  }

  /** The runner gives the request more time, within what is left of its delays. */
  private delayed(time: number): void {
    const { shared } = this.options.budget;
    const more = Math.min(shared.delays, Math.max(0, time - this.remaining()));
    shared.delays -= more;
    shared.deadline += more;
  }

  private answered(data: string): void {
    const { waiting } = this;
    if (!waiting) throw new RunnerBreach('an answer to no request');
    this.waiting = null;
    waiting.resolve(data);
  }

  private sendAgain(): void {
    if (!this.openAgain) throw new RunnerBreach('a question for a program that it has');
    this.openAgain();
  }

  private lost(fault: Fault): void {
    if (fault) this.options.overLimit(crashTime);
    this.fail(faultError(this.options, fault));
  }

  private failure(reason: FailureReason, message: string): AppsError {
    const time = processClock.now() - this.begun;
    // The runner's clock has run meanwhile.
    if (reason === 'time' && processClock.stops() > this.stops) return againError();
    if (reason === 'time' || reason === 'memory') this.options.overLimit(time);
    return reason === 'time' ? this.lateError(message) : failureError(this.options, reason, message, time);
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
    const tooLong = this.end ? null : this.host.timeRefusal();
    if (tooLong) return this.refuse(tooLong);
    // After the deadline the runner reports the timeout with the stack; a runner that does not answer is killed.
    if (!this.end && this.remaining() > 0) this.reply(answer);
  }

  /** Ends the session because it exceeded a limit. */
  private refuse(error: AppsError): void {
    this.options.overLimit(processClock.now() - this.begun);
    this.stop(error);
  }

  private reply(data: string): void {
    this.serving = false;
    const { inCall, waiting } = this.options.budget.shared;
    inCall.delete(this.pausable);
    // While others of the request wait, the runner has stopped this session's time too: its logic goes on now.
    if (waiting.count > 0) this.pausable.resume();
    this.options.runner.send({ type: 'reply', session: this.id, data });
  }

  /** Ends the session in the runner too, in any state. */
  private stop(error: AppsError): void {
    if (!this.ended && this.opened) this.options.runner.send({ type: 'stop', session: this.id });
    this.fail(error);
  }

  private fail(error: AppsError): void {
    this.finish();
    this.reject(error);
  }

  private reject(error: AppsError): void {
    this.end ??= () => error;
    this.waiting?.reject(error);
    this.waiting = null;
  }

  /** @param mayRun whether logic of the session may still run */
  private finish(mayRun = true): void {
    if (this.ended) return;
    this.ended = true;
    this.options.budget.shared.inCall.delete(this.pausable);
    this.deadline.stop();
    this.options.runner.detach(this.id, mayRun);
    this.options.onEnd();
  }
}
