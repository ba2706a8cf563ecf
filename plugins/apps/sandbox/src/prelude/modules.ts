import { defineProperty, hasOwn, NativeError } from './primordials';

type Require = (specifier: string) => object;
/** Gives a module an export whose value is looked up whenever it is used. */
type Offer = (name: string, get: () => unknown) => void;

/** A module as its script gives it: nothing of it has run. */
export interface Defined {
  path: string;
  /** Paths of modules, by the specifiers of its imports. */
  imports: Record<string, string>;
  factory: (exports: object, require: Require, offer: Offer) => void;
}

/** The name under which a compiled module finds `define`; gone before any module is evaluated. */
const defineName = '__define';

/** Until `hideDefine`, the scripts of a program give what they define. */
export function offerDefine(): void {
  const value = (path: string, imports: Defined['imports'], factory: Defined['factory']): Defined => ({
    path,
    imports,
    factory,
  });
  defineProperty(globalThis, defineName, { value, configurable: true });
}

export const hideDefine = (): boolean => Reflect.deleteProperty(globalThis, defineName);

/** The instances of a program's modules for one session, evaluated when first imported. */
export function createModules(program: readonly Defined[]): { evaluate(path: string): Record<string, unknown> } {
  const defined = new Map(program.map((module) => [module.path, module]));
  const evaluated = new Map<string, Record<string, unknown>>();

  function evaluate(path: string): Record<string, unknown> {
    const known = evaluated.get(path);
    if (known) return known;
    const module = defined.get(path);
    if (!module) throw new NativeError(`There is no module ${path}`);
    const exports: Record<string, unknown> = Object.defineProperty({}, '__esModule', { value: true });
    // Known before it has run: modules may import each other.
    evaluated.set(path, exports);
    const require: Require = (specifier) => {
      const imported = hasOwn(module.imports, specifier) ? module.imports[specifier] : undefined;
      if (imported === undefined) throw new NativeError('require is not available: use import');
      return evaluate(imported);
    };
    const offer: Offer = (name, get) => Object.defineProperty(exports, name, { get, enumerable: true });
    // Not called as a method: `this` of the module's code would be an object of the prelude.
    const { factory } = module;
    factory(exports, require, offer);
    return exports;
  }

  return { evaluate };
}
