/** The programs that run inside of isolates, bundled by `sandbox/build.mjs` into the text of one expression each. */
declare module 'apps:prelude' {
  const text: string;
  export default text;
}

declare module 'apps:python' {
  const text: string;
  export default text;
}

/** Files of Python's prelude, as text. */
declare module '*.py' {
  const text: string;
  export default text;
}
