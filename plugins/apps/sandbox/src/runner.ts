import { createOutbox } from '../../shared/outbox';
import { loadIsolatedVm } from './isolated-vm';
import { watchMemory } from './memory-watch';
import { Pool } from './pool';
import type { FromRunner, RunnerOptions, ToRunner, WireProgram } from './protocol';
import type { PythonSource } from './python';
import { createPythonSource } from './python/image';
import { Session } from './session';

/** Programs whose text the runner remembers; a forgotten one is asked for again. */
const knownPrograms = 200;

/** The runner process: sessions by id, programs by key, messages in and out. */
function main(options: RunnerOptions): void {
  let source: PythonSource | undefined;
  const python = () => {
    source ??= createPythonSource(options.memory);
    return source;
  };
  const pool = new Pool({ ...options, vm: loadIsolatedVm(), python });
  const sessions = new Map<number, Session>();
  const programs = new Map<string, WireProgram>();
  watchMemory(sessions, options, () => send({ type: 'sick' }));

  function program(key: string, source: WireProgram | undefined): WireProgram | undefined {
    const found = source ?? programs.get(key);
    programs.delete(key);
    if (found) programs.set(key, found);
    if (programs.size > knownPrograms) programs.delete(programs.keys().next().value as string);
    return found;
  }

  function open(message: Extract<ToRunner, { type: 'open' }>): void {
    const { session: id, data, remaining } = message;
    const found = program(message.program, message.source);
    if (!found) return send({ type: 'failed', session: id, reason: 'unknown-program', message: '' });
    const ended = () => sessions.delete(id);
    const { language } = found;
    const session = new Session({ id, language, pool, messageSize: options.messageSize, send, ended });
    sessions.set(id, session);
    session.open(found, data, remaining);
  }

  function receive(message: ToRunner): void {
    if (message.type === 'open') return open(message);
    const session = sessions.get(message.session);
    if (message.type === 'call') return session?.call(message.data, message.remaining);
    if (message.type === 'reply') return session?.reply(message.data);
    return session?.[message.type]();
  }

  process.on('message', (messages: ToRunner[]) => messages.forEach(receive));
  send({ type: 'ready' });
}

// The server may be gone: the 'disconnect' event then ends this process.
const send = createOutbox<FromRunner>(
  (messages) => process.send?.(messages, undefined, undefined, () => undefined),
  setImmediate,
);

process.on('disconnect', () => process.exit(0));
// The terminal sends it to the whole group; the server decides when a runner ends.
process.on('SIGINT', () => undefined);

try {
  main(JSON.parse(process.argv[2] ?? '') as RunnerOptions);
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  const last: FromRunner[] = [{ type: 'unavailable', message }];
  process.send?.(last, undefined, undefined, () => process.exit(1));
}
