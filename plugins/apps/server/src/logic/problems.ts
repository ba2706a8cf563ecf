import type { WireProgram } from '../../../shared/logic-protocol';
import { AppsError, isAppsError, logicError } from '../common/errors';
import type { Compiler } from './compile';
import { PausedError } from './supervisor/circuit-breaker';
import type { ContextData, LogicHost, LogicRuntime } from './types';

/** A context for logic whose functions do not run. */
export const emptyContext: ContextData = {
  app: { id: '', url: '', settings: {}, options: {}, blocks: [], indexes: [] },
  block: null,
  record: null,
  request: { method: 'GET', url: '', path: '', query: {}, form: {}, body: null, headers: {} },
  parent_request: null,
  portal: { id: '', title: '', url: '', theme: '', locale: null },
  content: { type: 'portal', id: '', documentId: null, title: '', url: '', path: '/', locale: null, fields: {} },
  user: null,
  visitor: null,
  params: {},
  acl: { username: null, groups: [], rights: [], roles: [], held: [], manager: false },
};

/** Refuses all host calls of a program's top level. */
export const noHost = new Proxy({} as LogicHost, {
  get: () => () => {
    throw new AppsError('ForbiddenError', 'Nothing can be asked of the server while a file is loaded');
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
      compiled = await within(left(), Promise.resolve(runtime.compile(program)), late);
      const before = known.get(compiled);
      if (before !== undefined) return before;
      // The session is closed whenever it opens, even after the wait has timed out.
      const loading = runtime.open(program, emptyContext, noHost, runtime.budget()).then((session) => session.close());
      await within(Math.max(1, left()), loading, late);
      known.set(compiled, null);
      return null;
    } catch (error) {
      // Paused programs are reported elsewhere.
      if (error instanceof PausedError) return null;
      if (!isAppsError(error)) throw error;
      if (compiled && error.name === 'LogicError' && error !== late) known.set(compiled, error);
      return error;
    }
  };
}

/** Rejects with `error` when the work takes longer than `time` milliseconds; the work continues. */
export async function within<T>(time: number, work: Promise<T>, error: AppsError): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(error), time);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
