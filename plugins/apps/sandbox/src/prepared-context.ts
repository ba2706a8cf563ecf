import type { ivm } from './isolated-vm';

/** A context in which the prelude has run. */
export interface PreparedContext {
  context: ivm.Context;
  /** A function of `prelude/index.ts`, of an idle isolate; taken out of it at the first use. */
  get(name: 'install' | 'entry' | 'take' | 'end'): ivm.Reference;
  release(): void;
}

/** A compiled program. */
export interface Compiled {
  scripts: ivm.Script[];
  isAsync: boolean;
}

/** Makes a context in an idle isolate. */
export function prepareContext(isolate: ivm.Isolate, prelude: ivm.Script, bridge: ivm.Reference): PreparedContext {
  const context = isolate.createContextSync();
  const start = prelude.runSync(context, { reference: true });
  const made = start.applySync(undefined, [bridge], { result: { reference: true } }) as ivm.Reference<never>;
  start.release();
  const taken = new Map<string, ivm.Reference>();
  return {
    context,
    get(name) {
      const known = taken.get(name);
      if (known) return known;
      const reference = made.getSync(name as never, { reference: true }) as ivm.Reference;
      taken.set(name, reference);
      return reference;
    },
    release() {
      for (const one of taken.values()) one.release();
      made.release();
      context.release();
    },
  };
}

/**
 * Gives a context of an idle isolate its program, whose scripts only define its modules. Synchronous, but for a reused context: to harden
 * it takes some milliseconds.
 */
export function installProgram(
  { context, get }: PreparedContext,
  { scripts, isAsync }: Compiled,
  isReused = false,
): Promise<unknown> | undefined {
  const modules = scripts.map((script) => script.runSync(context, { reference: true }).derefInto({ release: true }));
  const given = [isReused, isAsync, ...modules];
  if (isReused) return get('install').apply(undefined, given);
  get('install').applySync(undefined, given);
  return undefined;
}
