import type { RunnerOptions, ToRunner, WireProgram } from '../../shared/logic-protocol';

import { type Connection, connect } from './connection';
import { withoutWebAssembly } from './engine-flags';
import { IsolatePool } from './isolate-pool';
import { loadIsolatedVm } from './isolated-vm';
import { watchMemory } from './memory-watch';
import { watchProcessor } from './processor-share';
import type { PythonSource } from './python';
import { createPythonSource } from './python/image';
import { isAudited, ReusePolicy } from './reuse-policy';
import { Session } from './session';

/** Programs whose text the runner keeps; the server sends an evicted one again. */
const MAX_KNOWN_PROGRAMS = 200;

/**
 * Members of `process` that act on other processes, such as the server's, or load native code: removed, so that a program
 * that has escaped its isolate cannot call them. The permission model covers none of them.
 */
const removed = ['dlopen', 'kill', '_kill', '_debugProcess', '_debugEnd', 'binding', '_linkedBinding'];

/** The runner process: sessions by id, programs by key, messages in and out. */
function start(options: RunnerOptions, { send }: Pick<Connection, 'send'>): (message: ToRunner) => void {
  let source: PythonSource | undefined;
  const python = () => {
    source ??= createPythonSource(options.memory);
    return source;
  };
  const vm = loadIsolatedVm(options.packageManager);
  withoutWebAssembly();
  for (const name of removed) Reflect.deleteProperty(process, name);
  const reuse = new ReusePolicy(isAudited() ? options.reuseAfter : null);
  const pool = new IsolatePool({ ...options, vm, python, reuse });
  const sessions = new Map<number, Session>();
  const programs = new Map<string, WireProgram>();
  const watch = watchMemory({ ...options, sessions, unhealthy: () => send({ type: 'unhealthy' }) });

  watchProcessor(sessions);

  function program(key: string, source: WireProgram | undefined): WireProgram | undefined {
    const found = source ?? programs.get(key);
    programs.delete(key);
    if (found) programs.set(key, found);
    if (programs.size > MAX_KNOWN_PROGRAMS) programs.delete(programs.keys().next().value as string);
    return found;
  }

  function open(message: Extract<ToRunner, { type: 'open' }>): void {
    const { session: id, data } = message;
    const found = program(message.program, message.source);
    if (!found) return send({ type: 'failed', session: id, reason: 'unknown-program', message: '' });
    const ended = (session: Session, mayRun: boolean) => {
      watch.ended(session, mayRun);
      sessions.delete(id);
    };
    const { messageSize } = options;
    const session = new Session({
      id,
      program: found,
      pool,
      messageSize,
      before: watch.last,
      send,
      ended,
      gone: watch.gone,
    });
    sessions.set(id, session);
    session.open(data, message);
  }

  return (message) => {
    if (message.type === 'open') return open(message);
    if (message.type === 'ping') return send({ type: 'pong' });
    const session = sessions.get(message.session);
    if (message.type === 'call') return session?.call(message.data, message);
    if (message.type === 'reply') return session?.reply(message.data);
    return session?.[message.type]();
  };
}

// Terminals and service managers send these to all processes of a service. The server answers its open requests first, and ends
// its runners; a runner whose server is gone ends by itself.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

let receive: (message: ToRunner) => void = () => undefined;
const connection = connect((message) => receive(message));
try {
  receive = start(JSON.parse(process.argv[2] ?? '') as RunnerOptions, connection);
  connection.send({ type: 'ready' });
} catch (error) {
  connection.end({ type: 'unavailable', message: textOf(error) });
}

/** Node.js's permission model does not say in its message which file it has refused. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { resource } = error as { resource?: string };
  return resource ? `${error.message} (${resource})` : error.message;
}
