const { getPrototypeOf, getOwnPropertyDescriptor } = Object;
const { ownKeys } = Reflect;

type Maker = () => unknown;

/** Instances of what no global leads to: what syntax makes, iterators, what the engine gives. Absent in engines where a maker fails. */
const makers: Maker[] = [
  () => async () => undefined,
  () => function* () {},
  () => async function* () {},
  () => (function* () {})(),
  () => (async function* () {})(),
  () => [][Symbol.iterator](),
  () => ''[Symbol.iterator](),
  () => new Map()[Symbol.iterator](),
  () => new Set()[Symbol.iterator](),
  () => ''.matchAll(/(?:)/g),
  () => new Uint8Array(0),
  () => new Error('x'),
  () => capture({}),
  () => segments(),
  () => segments()[Symbol.iterator](),
  () => global.Iterator.from({ next() {} }),
  () => global.Iterator.from([]).map((one) => one),
  () => global.Iterator.concat([]),
  () => new global.URLSearchParams('a=1')[Symbol.iterator](),
  () =>
    (function () {
      // biome-ignore lint/complexity/noArguments: the object itself is wanted.
      return arguments;
    })(),
  () => callSites()[0],
];

/** Globals that the types of this program do not have. */
const global = globalThis as unknown as {
  Iterator: { from(of: unknown): { map(by: (one: unknown) => unknown): unknown }; concat(of: unknown): unknown };
  Intl: { Segmenter: new (locale: string) => { segment(text: string): Iterable<unknown> } };
  URLSearchParams: new (text: string) => Iterable<unknown>;
};

const segments = () => new global.Intl.Segmenter('en').segment('a');

const engineError = Error as unknown as { captureStackTrace(of: object): void; prepareStackTrace: unknown };

function capture(holder: object): object {
  engineError.captureStackTrace(holder);
  return holder;
}

function callSites(): unknown[] {
  engineError.prepareStackTrace = (_: unknown, frames: unknown[]) => frames;
  const { stack } = new Error();
  engineError.prepareStackTrace = undefined;
  return stack as unknown as unknown[];
}

/** The prototypes of such instances, and the functions of their own accessors, which all of a kind share. */
export function hiddenObjects(): unknown[] {
  const found: unknown[] = [];
  for (const make of makers) {
    let instance: object;
    try {
      instance = make() as object;
    } catch {
      continue;
    }
    found.push(getPrototypeOf(instance));
    for (const key of ownKeys(instance)) {
      const { get, set } = getOwnPropertyDescriptor(instance, key) as PropertyDescriptor;
      found.push(get, set);
    }
  }
  return found;
}
