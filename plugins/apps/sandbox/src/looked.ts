import { everything, maxLooked } from '../../shared/looked';

// Captured before any code of a theme has run.
const { create } = Object;
const { stringify } = JSON;

/** The inputs that the logic of one session has looked at (docs/decisions/exact-renderings.md). */
export interface Looked {
  /** Notes an input by its name, `request.url` for instance. Over the limits, `everything` is noted, and then nothing more. */
  at(name: string): void;
  /** Notes the property `name` of `whole`, unless all of `whole` is noted. */
  atOne(whole: string, name: string): void;
  /** What has been noted since the last call, as the end of an answer's JSON text: `,"looked":[…]`, or nothing. */
  take(): string;
}

/** It uses no built-in that code of a theme can change: nothing of what it keeps is an array, and no object has a prototype. */
export function createLooked(): Looked {
  const noted = create(null) as Record<string, true>;
  let count = 0;
  let fresh = '';

  function at(name: string): void {
    if (noted[name] || noted[everything]) return;
    const one = count < maxLooked.names && name.length <= maxLooked.length ? name : everything;
    noted[one] = true;
    count += 1;
    fresh += (fresh === '' ? '' : ',') + stringify(one);
  }

  return {
    at,
    atOne(whole, name) {
      if (!noted[whole]) at(`${whole}.${name}`);
    },
    take() {
      const text = fresh === '' ? '' : `,"looked":[${fresh}]`;
      fresh = '';
      return text;
    },
  };
}
