import type { WireProgram } from '../../../shared/logic-protocol';
import { AppsError, isAppsError, logicError } from '../common/errors';
import { within } from '../common/time/pace';
import type { Compiler } from './compile';
import { PausedError } from './supervisor/circuit-breaker';
import { SandboxBusy } from './supervisor/runner-pool';
import type { ContextData, LogicHost, LogicRuntime } from './types';

/** A context for logic whose functions do not run. */
export const emptyContext: ContextData = {
  app: { id: '', url: '', settings: {}, options: {}, blocks: [], indexes: [] },
  block: null,
  record: null,
  request: { method: 'GET', url: '', path: '', query: {}, form: {}, body: null, headers: {} },
  parent_request: null,
  portal: { id: '', title: '', url: '', theme: '', locale: null, time_zone: 'UTC' },
  content: { type: 'portal', id: '', documentId: null, title: '', url: '', path: '/', locale: null, fields: {} },
  user: null,
  visitor: null,
  params: {},
  acl: { username: null, groups: [], rights: [], roles: [], held: [], manager: false },
};

/** Refuses all host calls of a program's top level. */
export const noHost = new Proxy({} as LogicHost, {
  get: () => () => {
    throw new AppsError('ForbiddenError', 'Host functions cannot be called while a file is loaded');
  },
});

/** Makes `LogicRuntime.problem`, which loads each program once. */
export function createProblems(
  runtime: Pick<LogicRuntime, 'open'> & { compile: Compiler; budget(): ReturnType<LogicRuntime['budget']> },
): LogicRuntime['problem'] {
  const known = new WeakMap<WireProgram, AppsError | null>();

  return async (program, deadline) => {
    const left = () => deadline - performance.now();
    const late = logicError('The logic is still being compiled', { file: program.path });
    if (left() <= 0) return late;
    let compiled: WireProgram | undefined;
    try {
      const done = await within(runtime.compile(program), left());
      if (done === 'late') return late;
      compiled = done.value;
      const before = known.get(compiled);
      if (before !== undefined) return before;
      // The session is closed whenever it opens, even after the wait has timed out.
      const loading = runtime.open(program, emptyContext, noHost, runtime.budget()).then((session) => session.close());
      if ((await within(loading, left())) === 'late') return late;
      known.set(compiled, null);
      return null;
    } catch (error) {
      // Paused programs are reported elsewhere, and a busy sandbox is no fault of the program.
      if (error instanceof PausedError || error instanceof SandboxBusy) return null;
      if (!isAppsError(error)) throw error;
      if (compiled && error.name === 'LogicError') known.set(compiled, error);
      return error;
    }
  };
}
