import pythonText from 'apps:python';
import type { WireProgram } from '../../shared/logic-protocol';
import { withWebAssembly } from './engine-flags';
import type { IsolatedVm, ivm } from './isolated-vm';
import type { EntryTime, HostCall, LanguageContexts } from './language-contexts';
import type { Python, PythonSource } from './python';

/** The functions of `python/index.ts`. */
interface PythonFunctions {
  load: ivm.Reference;
  entry: ivm.Reference;
  reset: ivm.Reference;
}

/**
 * Milliseconds by which V8's timeout is later than the session's: Python interrupts itself, after its latest time, and needs some
 * milliseconds of processor time to describe where it was.
 */
const ENGINE_DELAY = 60;

/**
 * Python in an isolate: one context, in which no code of a theme runs as JavaScript, with one machine whose memory is
 * restored after every session.
 */
export class PythonContext implements LanguageContexts {
  readonly language = 'python';
  readonly isIdleAfter = false;
  ready = false;
  private readonly started: Promise<PythonFunctions>;
  private functions: PythonFunctions | null = null;
  private next: Promise<unknown>;

  constructor(
    private readonly vm: IsolatedVm,
    private readonly isolate: ivm.Isolate,
    private readonly host: HostCall,
    source: PythonSource,
  ) {
    this.started = this.start(source);
    this.next = this.started;
    this.started.then(
      () => (this.ready = true),
      () => undefined,
    );
  }

  get prepared(): Promise<unknown> {
    return this.next;
  }

  async enter(request: string, { time, latest }: EntryTime): Promise<unknown> {
    if (!this.functions) throw new Error('no program is loaded');
    const options = { result: { promise: true }, timeout: Math.ceil(latest) + ENGINE_DELAY };
    return this.functions.entry.apply(undefined, [request, time], options);
  }

  async load(program: WireProgram): Promise<void> {
    await this.next;
    this.functions = await this.started;
    const copy = new this.vm.ExternalCopy(program.modules).copyInto({ release: true });
    // Not awaited: an isolate does one thing after the other.
    this.functions.load.apply(undefined, [copy]).catch(() => undefined);
  }

  async reset(): Promise<boolean> {
    const { functions } = this;
    if (!functions) return true;
    this.functions = null;
    this.ready = false;
    const reset = functions.reset.apply(undefined, []) as Promise<unknown>;
    this.next = reset;
    const fresh = await reset;
    this.ready = fresh === true;
    return this.ready;
  }

  dropKept(): boolean {
    return false;
  }

  private async start(source: PythonSource): Promise<PythonFunctions> {
    // The isolate is idle.
    const context = withWebAssembly(() => this.isolate.createContextSync());
    const script = await this.isolate.compileScript(pythonText, { filename: 'apps:python' });
    const begin = await script.run(context, { reference: true });
    const bridge = new this.vm.Reference(this.host);
    const copy = new this.vm.ExternalCopy(source).copyInto({ release: true });
    const made = await begin.apply(undefined, [bridge, copy], { result: { reference: true } });
    const python = made as ivm.Reference<Python>;
    const names = ['load', 'entry', 'reset'] as const;
    const found = names.map(async (name) => [name, await python.get(name, { reference: true })]);
    return Object.fromEntries(await Promise.all(found)) as PythonFunctions;
  }
}
