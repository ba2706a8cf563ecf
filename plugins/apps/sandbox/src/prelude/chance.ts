import { makeDateSettable } from '../../../shared/settable-date';
import { looked } from './looked';
import { defineProperty, getOwnPropertyDescriptor, getOwnPropertyNames, reflectApply } from './primordials';

type Work = (this: unknown, ...args: unknown[]) => unknown;

const { Date: NativeDate, Intl: NativeIntl, Math: NativeMath, WeakMap: NativeWeakMap } = globalThis;
const { Temporal: NativeTemporal } = globalThis as { Temporal?: { Now: object } };
const { now: realNow } = NativeDate;
const { get: getKnown, set: setKnown } = NativeWeakMap.prototype;

/**
 * The globals that tell the present or a random number, each with what makes it: an edition that notes that it was looked at.
 * Made when logic first uses one, because few sessions do; there is no other way to the engine's own.
 * @param fixed the time in milliseconds since 1970 at which the clock stands still; undefined where it does not
 */
export function chances(fixed: () => number | undefined): { [name: string]: () => unknown } {
  const present = () => {
    looked.at('clock');
    return fixed() ?? realNow();
  };
  return {
    Math() {
      replace(NativeMath, 'random', (native) => ({
        random() {
          looked.at('random');
          return native();
        },
      }));
      return NativeMath;
    },
    Date() {
      const holder = { Date: NativeDate };
      makeDateSettable(holder, present);
      return holder.Date;
    },
    Intl() {
      noteFormats(present);
      return NativeIntl;
    },
    // Not in every engine.
    ...(NativeTemporal && { Temporal: () => notedTemporal(NativeTemporal) }),
  };
}

/** `Intl.DateTimeFormat` formats the present where it gets no time. */
function noteFormats(present: () => number): void {
  const formats = NativeIntl.DateTimeFormat.prototype;
  replace(formats, 'formatToParts', (native) => ({
    formatToParts(date?: unknown) {
      return reflectApply(native, this, [date === undefined ? present() : date]);
    },
  }));
  const format = getOwnPropertyDescriptor(formats, 'format') as PropertyDescriptor & { get: Work };
  /** A format gives the same function each time. */
  const known = new NativeWeakMap<object, Work>();
  const getter = {
    get format() {
      const native = reflectApply(format.get, this, []) as Work;
      const made = reflectApply(getKnown, known, [native]) as Work | undefined;
      if (made) return made;
      const noting = (date?: unknown) => native(date === undefined ? present() : date);
      reflectApply(setKnown, known, [native, noting]);
      return noting;
    },
  };
  const { get } = getOwnPropertyDescriptor(getter, 'format') as PropertyDescriptor;
  defineProperty(formats, 'format', { __proto__: null, ...format, get } as PropertyDescriptor);
}

function notedTemporal(temporal: { Now: object }): object {
  const names = getOwnPropertyNames(temporal.Now);
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string;
    replace(temporal.Now, name, (native) => ({
      [name](...args) {
        looked.at('clock');
        return reflectApply(native, this, args);
      },
    }));
  }
  return temporal;
}

/** Replaces a method by that of the same name in what `make` gives. */
function replace(holder: object, name: string, make: (native: Work) => { [name: string]: Work }): void {
  const descriptor = getOwnPropertyDescriptor(holder, name);
  if (typeof descriptor?.value !== 'function' || !descriptor.writable) return;
  const value = make(descriptor.value as Work)[name];
  defineProperty(holder, name, { __proto__: null, ...descriptor, value } as PropertyDescriptor);
}
