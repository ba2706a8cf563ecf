import preludeText from 'apps:prelude';
import type { WireProgram } from '../../shared/logic-protocol';
import type { IsolatedVm, ivm } from './isolated-vm';
import { type EntryTime, type HostCall, type LanguageContexts, RunAgain } from './language-contexts';
import { again, isRefusal, later } from './replies';
import type { ReusePolicy } from './reuse-policy';
import { takeSeed } from './seeds';

/** Programs kept compiled in an isolate; the least recently used goes first. */
const MAX_COMPILED_PROGRAMS = 32;

/** Milliseconds by which V8's timeout, which gives the stack, is later than the session's, which handles logic in a host call itself. */
const ENGINE_DELAY = 5;

/** Whether a program may have promises. */
const promises = /\b(?:async|await|Promise|then|fromAsync)\b/;

/** The session in the isolate. */
interface Current {
  program: WireProgram;
  prepared: PreparedContext;
  isReused: boolean;
  /** Whether it has answered a request, or made a host call. */
  hasBegun: boolean;
}

/**
 * JavaScript in an isolate: a fresh context each session, or one that serves the sessions of its program
 * (docs/decisions/reused-contexts.md); compiled scripts live as long as the isolate. The runner's own thread never waits for a
 * theme's code: only work in an idle isolate is synchronous (twice as fast).
 */
export class JavaScriptContexts implements LanguageContexts {
  readonly language = 'javascript';
  readonly isIdleAfter = true;
  ready = false;
  private readonly programs = new Map<string, Compiled & { sessions: number }>();
  private readonly reused = new ReusedContexts();
  private readonly prelude: Promise<ivm.Script>;
  private next: Promise<PreparedContext>;
  private current: Current | null = null;
  private readonly bridge: ivm.Reference;

  constructor(
    vm: IsolatedVm,
    private readonly isolate: ivm.Isolate,
    host: HostCall,
    private readonly policy: ReusePolicy,
  ) {
    const called: HostCall = (data) => {
      if (this.current) this.current.hasBegun = true;
      return host(data);
    };
    this.bridge = new vm.Reference(called);
    this.prelude = isolate.compileScript(preludeText, { filename: 'apps:prelude' });
    this.next = this.prepare();
  }

  get prepared(): Promise<unknown> {
    return this.next;
  }

  /** Whether a session of the program finds a context here that has served others. */
  has(program: string): boolean {
    return this.reused.has(program) && this.policy.mayUse(program);
  }

  async load(program: WireProgram): Promise<void> {
    const { key } = program;
    const known = this.has(key) ? this.reused.take(key) : null;
    const reused = known ?? (await this.makeReused(program));
    if (reused) this.current = { program, prepared: reused, isReused: true, hasBegun: false };
    else await this.loadFresh(program);
  }

  /**
   * The engine's timeout covers less than the session's clock does, which ends the isolate in any case. Rejects with `RunAgain` too.
   */
  async enter(request: string, { time }: EntryTime): Promise<unknown> {
    const end = performance.now() + time;
    const left = () => Math.max(1, end - performance.now());
    const isFirst = this.current?.hasBegun === false;
    const answer = await this.ask(request, left);
    const { current } = this;
    if (answer !== again || !current?.isReused) {
      if (current) current.hasBegun = true;
      return answer;
    }
    this.policy.pause(current.program.key);
    if (!isFirst || current.hasBegun) throw new RunAgain();
    this.leaveReused();
    await this.loadFresh(current.program);
    return this.ask(request, left);
  }

  private async ask(request: string, left: () => number): Promise<unknown> {
    if (!this.current) throw new Error('no program is loaded');
    const { prepared, isReused } = this.current;
    const options = () => ({ timeout: Math.ceil(left()) + ENGINE_DELAY });
    try {
      let answer: unknown = await prepared
        .get('entry')
        .apply(undefined, [request, ...(isReused ? takeSeed() : [])], options());
      while (answer === later) answer = await prepared.get('take').apply(undefined, [], options());
      return answer;
    } catch (error) {
      // Of a promise that nothing awaits.
      if (isReused && error instanceof Error && isRefusal(error.message)) return again;
      throw error;
    }
  }

  async reset(): Promise<boolean> {
    const { current } = this;
    if (!current) return true;
    if (current.isReused) this.leaveReused();
    else {
      this.current = null;
      current.prepared.release();
      this.next = this.prepare();
    }
    return true;
  }

  dropKept(): boolean {
    return this.reused.dropAll();
  }

  /** Ends the session in a reused context; one that is not as it was is given up. Synchronous: no code of a theme runs. */
  private leaveReused(): void {
    const { program, prepared } = this.current as Current;
    this.current = null;
    let isIntact = false;
    try {
      isIntact = prepared.get('end').applySync(undefined, []) === true;
    } catch {
      // The isolate has ended, or has no memory left.
    }
    if (!isIntact) {
      this.policy.changed(program.key);
      this.reused.drop(program.key);
    } else if (this.policy.mayUse(program.key)) this.reused.ended(program.key);
    else this.reused.drop(program.key);
  }

  private async loadFresh(program: WireProgram): Promise<void> {
    const [prepared, compiled] = await Promise.all([this.next, this.compile(program)]);
    this.current = { program, prepared, isReused: false, hasBegun: false };
    compiled.sessions += 1;
    installProgram(prepared, compiled);
  }

  /** A context for this session and further ones, if the program may have one. */
  private async makeReused(program: WireProgram): Promise<PreparedContext | null> {
    const sessions = this.programs.get(program.key)?.sessions ?? 0;
    if (program.changesBuiltIns || !this.reused.hasRoom || !this.policy.mayMake(program.key, sessions)) return null;
    const [prelude, compiled] = await Promise.all([this.prelude, this.compile(program)]);
    const prepared = prepareContext(this.isolate, prelude, this.bridge);
    await installProgram(prepared, compiled, true);
    this.reused.drop(program.key);
    this.reused.add(program.key, prepared);
    return prepared;
  }

  private prepare(): Promise<PreparedContext> {
    this.ready = false;
    const prepared = this.prelude.then((prelude) => prepareContext(this.isolate, prelude, this.bridge));
    // The session that gets the context reports a failure.
    void prepared.then(() => (this.ready = true)).catch(() => undefined);
    return prepared;
  }

  private async compile(program: WireProgram): Promise<Compiled & { sessions: number }> {
    const known = this.programs.get(program.key);
    this.programs.delete(program.key);
    const compiled = known ?? {
      scripts: await Promise.all(
        program.modules.map((module) => this.isolate.compileScript(module.code, { filename: module.path })),
      ),
      isAsync: program.modules.some(({ code }) => promises.test(code)),
      sessions: 0,
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

/** Contexts that an isolate keeps; the least recently used goes first, but not within the time, so that programs do not displace each other in turn. */
const MAX_CONTEXTS = 8;
const KEPT_TIME = 10_000;

/** Sessions after which a context is given up: what a program keeps where only its author sees it is then gone. */
const MAX_SESSIONS = 1000;

interface Kept {
  prepared: PreparedContext;
  sessions: number;
  /** When its last session began. */
  used: number;
}

/** The contexts of an isolate that serve the sessions of a program one after the other. */
class ReusedContexts {
  private readonly kept = new Map<string, Kept>();

  has(program: string): boolean {
    return this.kept.has(program);
  }

  /** The context of a program for one more session, the most recently used now. */
  take(program: string): PreparedContext | null {
    const found = this.kept.get(program);
    if (!found) return null;
    this.kept.delete(program);
    this.kept.set(program, { ...found, sessions: found.sessions + 1, used: performance.now() });
    return found.prepared;
  }

  /** Whether one more would displace none that is in use. */
  get hasRoom(): boolean {
    const [oldest] = this.kept.values();
    return this.kept.size < MAX_CONTEXTS || (oldest !== undefined && performance.now() - oldest.used > KEPT_TIME);
  }

  /** Adds a context whose first session begins. */
  add(program: string, prepared: PreparedContext): void {
    if (this.kept.size >= MAX_CONTEXTS) this.drop(this.kept.keys().next().value as string);
    this.kept.set(program, { prepared, sessions: 1, used: performance.now() });
  }

  /** A session is over: gives its context up after many, and others that were not used for a while, which only make the isolate slower. */
  ended(program: string): void {
    const now = performance.now();
    for (const [key, { used }] of this.kept) if (now - used > KEPT_TIME) this.drop(key);
    if ((this.kept.get(program)?.sessions ?? 0) >= MAX_SESSIONS) this.drop(program);
  }

  drop(program: string): void {
    const found = this.kept.get(program);
    this.kept.delete(program);
    found?.prepared.release();
  }

  /** Gives all up; false where there are none. */
  dropAll(): boolean {
    const programs = [...this.kept.keys()];
    for (const program of programs) this.drop(program);
    return programs.length > 0;
  }
}

/** A context in which the prelude has run. */
interface PreparedContext {
  context: ivm.Context;
  /** A function of `prelude/index.ts`, of an idle isolate; taken out of it at the first use. */
  get(name: 'install' | 'entry' | 'take' | 'end'): ivm.Reference;
  release(): void;
}

/** A compiled program. */
interface Compiled {
  scripts: ivm.Script[];
  isAsync: boolean;
}

/** Makes a context in an idle isolate. */
function prepareContext(isolate: ivm.Isolate, prelude: ivm.Script, bridge: ivm.Reference): PreparedContext {
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
function installProgram(
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
