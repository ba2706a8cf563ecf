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
  const Settable: DateConstructor = new Proxy(Native, {
    apply: () => new Native(now()).toString(),
    construct: (target, args, newTarget): Date =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget === Settable ? target : newTarget),
  });
  Native.now = now;
  Object.defineProperty(Native.prototype, 'constructor', { value: Settable, writable: true, configurable: true });
  global.Date = Settable;
}
