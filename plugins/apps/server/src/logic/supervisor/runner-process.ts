import { fork } from 'node:child_process';
import type { FromRunner, RunnerOptions, ToRunner, WireProgram } from '../../../../sandbox/src/protocol';
import { createOutbox } from '../../../../shared/outbox';

/** Milliseconds that a runner may take to start. */
const startTime = 15_000;

/**
 * isolated-vm gives an isolate so little room for new objects that the collector runs with every eighth context; with 4 MB
 * it runs five times less often.
 */
const room = ['--min-semi-space-size=4', '--max-semi-space-size=4'];
const flags = ['--no-node-snapshot', '--single-threaded-gc', ...room];

export type Language = WireProgram['language'];

export type SessionMessage = Extract<FromRunner, { session: number }>;

/** What a session wants to know of its runner. */
export interface SessionPort {
  receive(message: SessionMessage): void;
  /** The runner has ended; `guilty`: it crashed while no other session was open, so this one's logic has ended it. */
  lost(guilty: boolean): void;
}

/** One runner process as the server sees it. */
export interface Runner {
  readonly sessions: ReadonlyMap<number, SessionPort>;
  /** False: takes no new sessions, because it is stuck, ending or gone. */
  readonly usable: boolean;
  readonly started: boolean;
  /** Resolves when it takes no new sessions any more. */
  readonly spent: Promise<void>;
  /** Has one session only. */
  readonly alone: boolean;
  /** Keys of the programs that it has been sent. */
  readonly programs: Set<string>;
  /** Resolves when the process has started, or has ended before. */
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
  /** For one session only. */
  alone: boolean;
  /** It cannot work on this machine; `message` is for the log. */
  unavailable(message: string): void;
}

/** Starts a runner process: without environment, output or inherited flags, ended only by SIGKILL or by itself. */
export function startRunner({ path, runner, alone, unavailable }: RunnerProcessOptions): Runner {
  const sessions = new Map<number, SessionPort>();
  let usable = true;
  let isStarted = false;
  let expected = false;
  let tellSpent: () => void;
  const spent = new Promise<void>((resolve) => {
    tellSpent = resolve;
  });
  const retire = () => {
    usable = false;
    tellSpent();
  };
  let nextId = 1;
  const child = fork(path, [JSON.stringify(runner)], {
    execArgv: flags,
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  // The server may end without asking: the runner then ends by itself.
  child.unref();
  child.channel?.unref();

  const kill = () => {
    retire();
    expected = true;
    child.kill('SIGKILL');
  };
  const killWhenEmpty = () => {
    if ((!usable || alone) && sessions.size === 0) kill();
  };
  const ended = new Promise<void>((resolve) => {
    const gone = (crashed: boolean) => {
      retire();
      const ports = [...sessions.values()];
      sessions.clear();
      for (const port of ports) port.lost(crashed && ports.length === 1);
      resolve();
    };
    child.on('error', (error) => {
      unavailable(error.message);
      gone(false);
    });
    child.once('exit', (code, signal) => {
      // Without a signal it has not crashed but given up, for instance because the program is not there.
      if (!expected && signal === null) unavailable(`the runner ended with code ${code}`);
      gone(!expected && signal !== null);
    });
  });

  let started: () => void;
  const ready = new Promise<void>((resolve) => {
    started = resolve;
  });
  const slow = setTimeout(kill, startTime);
  void ended.then(() => started());
  void ready.then(() => clearTimeout(slow));

  const receive = (message: FromRunner) => {
    if ('session' in message) return sessions.get(message.session)?.receive(message);
    if (message.type === 'ready') {
      isStarted = true;
      return started();
    }
    retire();
    if (message.type === 'unavailable') {
      expected = true;
      return unavailable(message.message);
    }
    killWhenEmpty();
  };
  child.on('message', (messages: FromRunner[]) => messages.forEach(receive));

  return {
    sessions,
    alone,
    spent,
    get started() {
      return isStarted;
    },
    programs: new Set(),
    ready,
    ended,
    kill,
    get usable() {
      return usable;
    },
    attach(port) {
      const id = nextId++;
      sessions.set(id, port);
      return id;
    },
    detach(id) {
      sessions.delete(id);
      killWhenEmpty();
    },
    // A runner that is gone says so by its 'exit' event.
    send: createOutbox((messages) => child.send(messages, () => undefined), setImmediate),
  };
}
