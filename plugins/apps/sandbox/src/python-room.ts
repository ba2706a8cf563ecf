import pythonText from 'apps:python';
import type { IsolatedVm, ivm } from './isolated-vm';
import type { WireProgram } from './protocol';
import type { Python, PythonSource } from './python';
import type { HostCall, Room } from './room';

/** The functions of `python/index.ts`. */
interface Ways {
  load: ivm.Reference;
  entry: ivm.Reference;
  reset: ivm.Reference;
}

/**
 * Python in an isolate: one context, in which no code of a theme runs as JavaScript, with one machine whose memory is
 * put back after every session.
 */
export class PythonRoom implements Room {
  ready = false;
  private readonly started: Promise<Ways>;
  private ways: Ways | null = null;
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

  get entry(): ivm.Reference | null {
    return this.ways?.entry ?? null;
  }

  async load(program: WireProgram): Promise<void> {
    await this.next;
    this.ways = await this.started;
    const copy = new this.vm.ExternalCopy(program.modules).copyInto({ release: true });
    // Not waited for: an isolate does one thing after the other.
    this.ways.load.apply(undefined, [copy]).catch(() => undefined);
  }

  async reset(): Promise<boolean> {
    const { ways } = this;
    if (!ways) return true;
    this.ways = null;
    this.ready = false;
    const reset = ways.reset.apply(undefined, []) as Promise<unknown>;
    this.next = reset;
    const fresh = await reset;
    this.ready = fresh === true;
    return this.ready;
  }

  private async start(source: PythonSource): Promise<Ways> {
    const context = await this.isolate.createContext();
    const script = await this.isolate.compileScript(pythonText, { filename: 'apps:python' });
    const begin = await script.run(context, { reference: true });
    const bridge = new this.vm.Reference(this.host);
    const copy = new this.vm.ExternalCopy(source).copyInto({ release: true });
    const made = await begin.apply(undefined, [bridge, copy], { result: { reference: true } });
    const python = made as ivm.Reference<Python>;
    const names = ['load', 'entry', 'reset'] as const;
    const found = names.map(async (name) => [name, await python.get(name, { reference: true })]);
    return Object.fromEntries(await Promise.all(found)) as Ways;
  }
}
