import { LRUCache } from 'lru-cache';
import { encodeFrame } from '../../../../shared/frames';
import type { FromRunner, RunnerOptions, ToRunner, WireProgram } from '../../../../shared/logic-protocol';
import { createOutbox } from '../../../../shared/outbox';
import { killProcess } from '../../common/confined-process';
import type { SandboxConfig } from '../../config.types';
import { createLiveness } from './liveness';
import { spawnRunner, whenOver } from './runner-child';
import { createRunnerMessages } from './runner-messages';

/** Milliseconds that a runner may take to start. */
const START_TIMEOUT = 15_000;

const MAX_REMEMBERED_PROGRAMS = 200;

export type Language = WireProgram['language'];

export type SessionMessage = Extract<FromRunner, { session: number }>;

/**
 * How the logic of a runner's only session has ended it: by a crash, or by an invalid message.
 * Null: there were other sessions, or the server ended it.
 */
export type Fault = 'crash' | 'breach' | null;

/** Receives the events of a runner for one session. */
export interface SessionPort {
  /** Handles a message; throws RunnerBreach if no working runner sends it. */
  receive(message: SessionMessage): void;
  /** The runner has ended. */
  lost(fault: Fault): void;
}

/** One runner process. */
export interface Runner {
  /** Undefined when the system could not start the process. */
  readonly pid: number | undefined;
  readonly sessions: ReadonlyMap<number, SessionPort>;
  /** False: it accepts no new sessions, because it is stuck, ending or gone. */
  readonly usable: boolean;
  readonly started: boolean;
  /** Resolves when it accepts no more sessions. */
  readonly spent: Promise<void>;
  /** Whether it has a single session only. */
  readonly alone: boolean;
  /** Keys of the programs that were sent to it last. It may have forgotten some, and asks for those again. */
  readonly programs: LRUCache<string, true>;
  /** Resolves when the process has started, or has ended before that. */
  readonly ready: Promise<void>;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  attach(port: SessionPort): number;
  detach(id: number): void;
  send(message: ToRunner): void;
  kill(): void;
}

export interface RunnerProcessOptions {
  /** The built runner program. */
  path: string;
  runner: RunnerOptions;
  config: SandboxConfig;
  /** Called when it cannot work on this machine; `message` is for the log. */
  unavailable(message: string): void;
  /** Called when the server has ended it because of what it did; `why` completes a sentence of the log. */
  misbehaved(why: string): void;
}

/** Starts a runner process: confined, and ended only by SIGKILL or by itself. */
export function startRunner({ path, runner, config, unavailable, misbehaved }: RunnerProcessOptions): Runner {
  const { alone } = runner;
  const sessions = new Map<number, SessionPort>();
  let usable = true;
  let isStarted = false;
  let fault: Fault = 'crash';
  let resolveSpent: () => void;
  const spent = new Promise<void>((resolve) => {
    resolveSpent = resolve;
  });
  const retire = () => {
    usable = false;
    resolveSpent();
  };
  let nextId = 1;
  const { child, pipe, printed } = spawnRunner(path, runner, config);

  const end = (why: Fault) => {
    retire();
    liveness.stop();
    fault = why;
    killProcess(child);
    pipe.destroy();
  };
  const kill = () => end(null);
  const send: Runner['send'] = createOutbox((list) => {
    // The 'exit' event reports a runner that is gone.
    if (!pipe.destroyed) pipe.write(encodeFrame({ kind: 'messages', number: 0, text: JSON.stringify(list) }));
  }, setImmediate);
  let pings = 0;
  const liveness = createLiveness({
    ping() {
      pings += 1;
      send({ type: 'ping' });
    },
    dead() {
      kill();
      misbehaved('because it no longer read messages; its requests run again');
    },
  });
  const killWhenEmpty = () => {
    if ((!usable || alone) && sessions.size === 0) kill();
  };
  const ended = new Promise<void>((resolve) => {
    const gone = (why: Fault) => {
      retire();
      liveness.stop();
      pipe.destroy();
      const ports = [...sessions.values()];
      sessions.clear();
      for (const port of ports) port.lost(ports.length === 1 ? why : null);
      resolve();
    };
    child.on('error', (error) => {
      unavailable(error.message);
      gone(null);
    });
    whenOver(child, (code, signal) => {
      // Without a signal it has not crashed but exited, for example because the program is missing.
      const gaveUp = fault === 'crash' && signal === null;
      if (gaveUp) unavailable(`the runner ended with code ${code}${printed()}`);
      gone(gaveUp ? null : fault);
    });
  });

  let started: () => void;
  const ready = new Promise<void>((resolve) => {
    started = resolve;
  });
  const slow = setTimeout(kill, START_TIMEOUT);
  void ended.then(() => started());
  void ready.then(() => {
    clearTimeout(slow);
    child.stderr?.destroy();
  });

  /** False: the message concerns no open session, or repeats an earlier one. */
  const receive = (message: FromRunner): boolean => {
    if ('session' in message) {
      const port = sessions.get(message.session);
      port?.receive(message);
      return port !== undefined;
    }
    if (message.type === 'pong') return pings-- > 0;
    if (message.type === 'ready') {
      const isFirst = !isStarted;
      isStarted = true;
      started();
      // What was sent meanwhile is read from now on.
      if (!alone) liveness.sent();
      return isFirst;
    }
    const isNews = usable;
    retire();
    if (message.type === 'unavailable') {
      fault = null;
      unavailable(message.message);
    } else killWhenEmpty();
    return isNews;
  };
  const messages = createRunnerMessages({ messageSize: runner.messageSize, receive });
  pipe.on('error', () => undefined);
  pipe.on('data', (chunk: Buffer) => {
    liveness.heard();
    try {
      messages.read(chunk);
    } catch (error) {
      end('breach');
      misbehaved(`for what it sent: ${error instanceof Error ? error.message : String(error)}`);
    }
  });

  return {
    pid: child.pid,
    sessions,
    alone,
    spent,
    get started() {
      return isStarted;
    },
    programs: new LRUCache({ max: MAX_REMEMBERED_PROGRAMS }),
    ready,
    ended,
    kill,
    get usable() {
      return usable;
    },
    attach(port) {
      const id = nextId++;
      sessions.set(id, port);
      messages.begun();
      return id;
    },
    detach(id) {
      sessions.delete(id);
      killWhenEmpty();
    },
    send(message) {
      send(message);
      // A process that has not started reads nothing yet. One that is alone has no other sessions to be saved.
      if (isStarted && !alone) liveness.sent();
    },
  };
}
