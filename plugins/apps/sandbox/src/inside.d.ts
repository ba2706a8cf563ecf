/** The programs that run inside of isolates, bundled by `sandbox/build.mjs` into the text of one expression each. */
declare module 'apps:prelude' {
  const text: string;
  export default text;
}

declare module 'apps:python' {
  const text: string;
  export default text;
}

/** Made from the table of host functions (`server/src/logic/host-functions/generated.ts`). */
declare module 'apps:host-functions' {
  import type { Json } from '../../shared/json';

  /** A method that passes its arguments to a host function and returns the answer. */
  export interface ForwardingMethod {
    /** Of the host function. */
    name: string;
    method: string;
    /** Arguments that are taken by position too. */
    positional: readonly string[];
    /** All arguments, and what each is if it is not given. */
    names: readonly string[];
    defaults: readonly Json[];
  }

  /** Host functions that see no record: nothing is written back before them. */
  export const unflushed: readonly string[];
  /** Methods of `context.api.documents(uid)`. */
  export const documentMethods: readonly string[];
  /** Methods of an app, and of a record. */
  export const appMethods: readonly ForwardingMethod[];
  export const recordMethods: readonly ForwardingMethod[];
}

declare module 'apps:python-calls' {
  const text: string;
  export default text;
}

/** Files of Python's prelude, as text. */
declare module '*.py' {
  const text: string;
  export default text;
}
