// Captured: in a sandbox the program may have changed them before it first uses `Date`.
const { construct } = Reflect;
const { defineProperty } = Object;
const NativeProxy = Proxy;

/**
 * Replaces `Date` in a context: where the present is asked for (`new Date()`, `Date()`, `Date.now()`), `time` answers.
 * All else of `Date` stays the engine's own.
 * @param global the context's global object
 * @param time milliseconds since 1970; called at each question. Without an answer, the real time counts
 */
export function makeDateSettable(global: { Date: DateConstructor }, time: () => number | null): void {
  const Native = global.Date;
  const realNow = Native.now;
  const now = () => time() ?? realNow();
  // Without a prototype: what code has put on Object.prototype must not become a trap.
  const handler = {
    __proto__: null,
    apply: () => new Native(now()).toString(),
    construct: (target: DateConstructor, args: unknown[], newTarget: unknown): Date =>
      construct(
        target,
        args.length === 0 ? [now()] : args,
        newTarget === Settable ? target : (newTarget as DateConstructor),
      ),
  } as ProxyHandler<DateConstructor>;
  const Settable = new NativeProxy(Native, handler);
  Native.now = now;
  // Without a prototype too; it stays writable and configurable.
  defineProperty(Native.prototype, 'constructor', { __proto__: null, value: Settable } as PropertyDescriptor);
  global.Date = Settable;
}
