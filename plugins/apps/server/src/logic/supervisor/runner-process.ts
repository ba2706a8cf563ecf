import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { FromRunner, RunnerOptions, ToRunner, WireProgram } from '../../../../sandbox/src/protocol';
import { encodeFrame } from '../../../../shared/frames';
import { createOutbox } from '../../../../shared/outbox';
import type { SandboxConfig } from '../../config.types';
import { startConfined } from '../../confined-process';
import { createRunnerMessages } from './runner-messages';

/** Milliseconds that a runner may take to start, and that its last messages may take to arrive after its end. */
const startTime = 15_000;
const lastTime = 100;

/** Characters kept of what a runner prints before it has started. */
const printedSize = 500;

/** What the runner loads from `node_modules`; of isolated-vm the release for this Node.js is there. */
const packages = ['isolated-vm-5', 'isolated-vm-6', 'isolated-vm-7', '@micropython/micropython-webassembly-pyscript'];

/**
 * isolated-vm gives an isolate so little room for new objects that the collector runs with every eighth context; with 4 MB
 * it runs five times less often.
 */
const room = ['--min-semi-space-size=4', '--max-semi-space-size=4'];
const flags = ['--no-node-snapshot', '--single-threaded-gc', ...room];

export type Language = WireProgram['language'];

export type SessionMessage = Extract<FromRunner, { session: number }>;

/**
 * What the logic of a runner's only session has done to it: the process crashed, or it sent what a runner does not send.
 * Null: there were other sessions, or the server ended it.
 */
export type Fault = 'crash' | 'breach' | null;

/** What a session wants to know of its runner. */
export interface SessionPort {
  /** Takes a message; throws RunnerBreach if it cannot come from a runner that works. */
  receive(message: SessionMessage): void;
  /** The runner has ended. */
  lost(fault: Fault): void;
}

/** One runner process as the server sees it. */
export interface Runner {
  /** Of the process; undefined when the system did not start one. */
  readonly pid: number | undefined;
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
  config: SandboxConfig;
  /** It cannot work on this machine; `message` is for the log. */
  unavailable(message: string): void;
  /** It was ended for what it sent; `message` is for the log. */
  breach(message: string): void;
}

/** Starts a runner process: confined, and ended only by SIGKILL or by itself. */
export function startRunner({ path, runner, config, unavailable, breach }: RunnerProcessOptions): Runner {
  const { alone } = runner;
  const sessions = new Map<number, SessionPort>();
  let usable = true;
  let isStarted = false;
  let fault: Fault = 'crash';
  let tellSpent: () => void;
  const spent = new Promise<void>((resolve) => {
    tellSpent = resolve;
  });
  const retire = () => {
    usable = false;
    tellSpent();
  };
  let nextId = 1;
  const args = [JSON.stringify(runner)];
  const program = { path, args, flags, packages, addons: true };
  const child = startConfined(program, config, { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
  const pipe = child.stdio[3] as Socket;
  const printed = readPrinted(child);
  // The server may end without asking: the runner then ends by itself.
  child.unref();
  pipe.unref();

  const end = (why: Fault) => {
    retire();
    fault = why;
    child.kill('SIGKILL');
    pipe.destroy();
  };
  const kill = () => end(null);
  const killWhenEmpty = () => {
    if ((!usable || alone) && sessions.size === 0) kill();
  };
  const ended = new Promise<void>((resolve) => {
    const gone = (why: Fault) => {
      retire();
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
      // Without a signal it has not crashed but given up, for instance because the program is not there.
      const gaveUp = fault === 'crash' && signal === null;
      if (gaveUp) unavailable(`the runner ended with code ${code}${printed()}`);
      gone(gaveUp ? null : fault);
    });
  });

  let started: () => void;
  const ready = new Promise<void>((resolve) => {
    started = resolve;
  });
  const slow = setTimeout(kill, startTime);
  void ended.then(() => started());
  void ready.then(() => {
    clearTimeout(slow);
    child.stderr?.destroy();
  });

  /** False: the message concerns nothing that there is. */
  const receive = (message: FromRunner): boolean => {
    if ('session' in message) {
      const port = sessions.get(message.session);
      port?.receive(message);
      return port !== undefined;
    }
    if (message.type === 'ready') {
      const isFirst = !isStarted;
      isStarted = true;
      started();
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
    try {
      messages.read(chunk);
    } catch (error) {
      end('breach');
      breach(error instanceof Error ? error.message : String(error));
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
      messages.begun();
      return id;
    },
    detach(id) {
      sessions.delete(id);
      killWhenEmpty();
    },
    send: createOutbox((list) => {
      // A runner that is gone says so by its 'exit' event.
      if (!pipe.destroyed) pipe.write(encodeFrame({ kind: 'messages', number: 0, text: JSON.stringify(list) }));
    }, setImmediate),
  };
}

/** Tells how a process has ended, once what it sent before has been read. */
function whenOver(child: ChildProcess, tell: (code: number | null, signal: string | null) => void): void {
  child.once('exit', (code, signal) => {
    const timer = setTimeout(over, lastTime);
    child.once('close', over);
    function over(): void {
      clearTimeout(timer);
      child.removeListener('close', over);
      tell(code, signal);
    }
  });
}

/** Keeps the beginning of what a process prints as its errors, for instance those of the command in front of it. */
function readPrinted(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8', 0, printedSize - text.length);
    if (text.length >= printedSize) child.stderr?.destroy();
  });
  return () => (text === '' ? '' : `: ${text.replace(/[^\x20-\x7e]+/g, ' ').trim()}`);
}
