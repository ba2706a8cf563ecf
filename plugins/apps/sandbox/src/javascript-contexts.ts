import preludeText from 'apps:prelude';
import type { WireProgram } from '../../shared/logic-protocol';
import type { IsolatedVm, ivm } from './isolated-vm';
import type { EntryTime, HostCall, LanguageContexts } from './language-contexts';
import { later } from './prelude/answers';

/** A context in which the prelude has run, with the functions of `prelude/index.ts`. */
interface Prepared {
  context: ivm.Context;
  install: ivm.Reference;
  entry: ivm.Reference;
  take: ivm.Reference;
}

interface Compiled {
  scripts: ivm.Script[];
  isAsync: boolean;
}

/** Scripts kept compiled in an isolate; the least recently used goes first. */
const MAX_COMPILED_PROGRAMS = 32;

/** Milliseconds by which V8's timeout, which gives the stack, is later than the session's, which handles logic in a host call itself. */
const ENGINE_DELAY = 5;

/** Whether a program may have promises. */
const promises = /\b(?:async|await|Promise|then|fromAsync)\b/;

/**
 * JavaScript in an isolate: a fresh context each session; compiled scripts live as long as the isolate. The runner's own
 * thread never waits for a theme's code: only work in an idle isolate is synchronous (twice as fast).
 */
export class JavaScriptContexts implements LanguageContexts {
  readonly language = 'javascript';
  readonly isIdleAfter = true;
  ready = false;
  private readonly programs = new Map<string, Compiled>();
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

  async load(program: WireProgram): Promise<void> {
    const [prepared, compiled] = await Promise.all([this.next, this.compile(program)]);
    this.current = prepared;
    install(prepared, compiled);
  }

  /** The engine's timeout covers less than the session's clock does, which ends the isolate in any case. */
  async enter(request: string, { time }: EntryTime): Promise<unknown> {
    if (!this.current) throw new Error('no program is loaded');
    const { entry, take } = this.current;
    const end = performance.now() + time;
    const timeout = () => Math.ceil(Math.max(1, end - performance.now())) + ENGINE_DELAY;
    let answer: unknown = await entry.apply(undefined, [request], { timeout: timeout() });
    while (answer === later) answer = await take.apply(undefined, [], { timeout: timeout() });
    return answer;
  }

  async reset(): Promise<boolean> {
    if (!this.current) return true;
    release(this.current);
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
    const made = start.applySync(undefined, [this.bridge], { result: { reference: true } }) as ivm.Reference<never>;
    start.release();
    const of = (name: string) => made.getSync(name as never, { reference: true }) as ivm.Reference;
    const prepared = { context, install: of('install'), entry: of('entry'), take: of('take') };
    made.release();
    return prepared;
  }

  private async compile(program: WireProgram): Promise<Compiled> {
    const known = this.programs.get(program.key);
    this.programs.delete(program.key);
    const compiled = known ?? {
      scripts: await Promise.all(
        program.modules.map((module) => this.isolate.compileScript(module.code, { filename: module.path })),
      ),
      isAsync: program.modules.some(({ code }) => promises.test(code)),
    };
    this.programs.set(program.key, compiled);
    if (this.programs.size > MAX_COMPILED_PROGRAMS) {
      const [oldest, old] = this.programs.entries().next().value as [string, Compiled];
      this.programs.delete(oldest);
      for (const script of old.scripts) script.release();
    }
    return compiled;
  }
}

/** Gives a context its program. Synchronous, in an idle isolate: the scripts of a compiled program only define their modules. */
function install({ context, install: take }: Prepared, { scripts, isAsync }: Compiled): void {
  const modules = scripts.map((script) => script.runSync(context, { reference: true }).derefInto({ release: true }));
  take.applySync(undefined, [isAsync, ...modules]);
}

function release({ context, ...functions }: Prepared): void {
  for (const one of Object.values(functions)) one.release();
  context.release();
}
