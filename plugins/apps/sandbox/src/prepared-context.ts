import type { ivm } from './isolated-vm';

/** A context in which the prelude has run, with the functions of `prelude/index.ts`. */
export interface PreparedContext {
  context: ivm.Context;
  install: ivm.Reference;
  entry: ivm.Reference;
  take: ivm.Reference;
  end: ivm.Reference;
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
  const of = (name: string) => made.getSync(name as never, { reference: true }) as ivm.Reference;
  const prepared = { context, install: of('install'), entry: of('entry'), take: of('take'), end: of('end') };
  made.release();
  return prepared;
}

/**
 * Gives a context of an idle isolate its program, whose scripts only define its modules. Synchronous, but for a reused context: to harden
 * it takes some milliseconds.
 */
export function installProgram(
  { context, install }: PreparedContext,
  { scripts, isAsync }: Compiled,
  isReused = false,
): Promise<unknown> | undefined {
  const modules = scripts.map((script) => script.runSync(context, { reference: true }).derefInto({ release: true }));
  const given = [isReused, isAsync, ...modules];
  if (isReused) return install.apply(undefined, given);
  install.applySync(undefined, given);
  return undefined;
}

export function releaseContext({ context, ...functions }: PreparedContext): void {
  for (const one of Object.values(functions)) one.release();
  context.release();
}
