import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { RunnerOptions } from '../../../../shared/logic-protocol';
import { startConfined } from '../../common/confined-process';
import type { SandboxConfig } from '../../config.types';

/** Milliseconds that a runner's last messages may take to arrive after its end. */
const LAST_MESSAGES_TIMEOUT = 100;

/** Characters kept of a runner's output before it has started. */
const MAX_PRINTED_SIZE = 500;

/** Packages that the runner loads, those that are installed; of isolated-vm only one release is loaded. */
const packages = ['isolated-vm', 'isolated-vm-7', 'strapi-plugin-apps-node22', 'strapi-plugin-apps-python'];

/**
 * Half of a session's time is V8's for its new context, most of it garbage at its end (docs/decisions/sandbox-cost.md). With 8 MB
 * for new objects they are hardly collected alone; isolated-vm gives so little that every eighth context has a collection. Compiled
 * code stays although no session has used it since the last collections.
 */
const contextFlags = ['--min-semi-space-size=8', '--max-semi-space-size=8', '--no-flush-bytecode'];
const flags = ['--no-node-snapshot', '--single-threaded-gc', ...contextFlags];

export interface RunnerChild {
  child: ChildProcess;
  /** Carries the frames of messages in both directions. */
  pipe: Socket;
  /** The beginning of its output, after `: `; empty without output. */
  printed(): string;
}

/** Starts the process of a runner, confined according to the configuration. A failure comes as the 'error' event of `child`. */
export function spawnRunner(path: string, runner: RunnerOptions, config: SandboxConfig): RunnerChild {
  const program = { path, args: [JSON.stringify(runner)], flags, packages, addons: true };
  const child = startConfined(program, config, { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
  // A process that could not start may have no streams.
  const pipe = (child.stdio?.[3] as Socket | undefined) ?? new Socket().destroy();
  const printed = readPrinted(child);
  // Does not keep the server alive; the runner ends with the server.
  child.unref();
  pipe.unref();
  return { child, pipe, printed };
}

/** Reports how a process has ended, after its last messages have been read. */
export function whenOver(child: ChildProcess, report: (code: number | null, signal: string | null) => void): void {
  child.once('exit', (code, signal) => {
    const timer = setTimeout(over, LAST_MESSAGES_TIMEOUT);
    child.once('close', over);
    function over(): void {
      clearTimeout(timer);
      child.removeListener('close', over);
      report(code, signal);
    }
  });
}

/** Keeps the beginning of a process's standard error, which also has errors of the sandbox command. */
function readPrinted(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8', 0, MAX_PRINTED_SIZE - text.length);
    if (text.length >= MAX_PRINTED_SIZE) child.stderr?.destroy();
  });
  return () => (text === '' ? '' : `: ${text.replace(/[^\x20-\x7e]+/g, ' ').trim()}`);
}
