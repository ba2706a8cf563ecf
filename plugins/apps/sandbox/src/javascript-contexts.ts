import preludeText from 'apps:prelude';
import type { WireProgram } from '../../shared/logic-protocol';
import type { IsolatedVm, ivm } from './isolated-vm';
import type { HostCall, LanguageContexts } from './language-contexts';

/** A context prepared before it is needed: the prelude has run in it, no other code has. */
interface Prepared {
  context: ivm.Context;
  entry: ivm.Reference;
}

/** Scripts kept compiled in an isolate; the least recently used goes first. */
const MAX_COMPILED_PROGRAMS = 32;

/**
 * JavaScript in an isolate: a fresh context each session; compiled scripts live as long as the isolate. The runner's own
 * thread never waits for a theme's code: only work in an idle isolate is synchronous (twice as fast).
 */
export class JavaScriptContexts implements LanguageContexts {
  readonly language = 'javascript';
  ready = false;
  private readonly programs = new Map<string, ivm.Script[]>();
  private readonly prelude: Promise<ivm.Script>;
  private next: Promise<Prepared>;
  private current: Prepared | null = null;
  private readonly bridge: ivm.Reference;

  constructor(
    vm: IsolatedVm,
    private readonly isolate: ivm.Isolate,
    host: HostCall,
  ) {
    this.bridge = new vm.Reference(host);
    this.prelude = isolate.compileScript(preludeText, { filename: 'apps:prelude' });
    this.next = this.prepare();
  }

  get prepared(): Promise<unknown> {
    return this.next;
  }

  get entry(): ivm.Reference | null {
    return this.current?.entry ?? null;
  }

  async load(program: WireProgram): Promise<void> {
    const [prepared, scripts] = await Promise.all([this.next, this.compile(program)]);
    this.current = prepared;
    // Not awaited: an isolate does one thing after the other. A module that is missing makes the next request fail.
    for (const script of scripts) script.run(prepared.context).catch(() => undefined);
  }

  async reset(): Promise<boolean> {
    if (!this.current) return true;
    this.current.entry.release();
    this.current.context.release();
    this.current = null;
    this.next = this.prepare();
    return true;
  }

  private prepare(): Promise<Prepared> {
    this.ready = false;
    const prepared = this.make();
    // The session that gets the context reports a failure.
    void prepared.then(() => (this.ready = true)).catch(() => undefined);
    return prepared;
  }

  private async make(): Promise<Prepared> {
    const prelude = await this.prelude;
    const context = this.isolate.createContextSync();
    const start = prelude.runSync(context, { reference: true });
    const entry = start.applySync(undefined, [this.bridge], { result: { reference: true } });
    start.release();
    return { context, entry };
  }

  private async compile(program: WireProgram): Promise<ivm.Script[]> {
    const known = this.programs.get(program.key);
    this.programs.delete(program.key);
    const scripts =
      known ??
      (await Promise.all(
        program.modules.map((module) => this.isolate.compileScript(module.code, { filename: module.path })),
      ));
    this.programs.set(program.key, scripts);
    if (this.programs.size > MAX_COMPILED_PROGRAMS) {
      const [oldest, old] = this.programs.entries().next().value as [string, ivm.Script[]];
      this.programs.delete(oldest);
      for (const script of old) script.release();
    }
    return scripts;
  }
}
