import { hasOwn, NativeError } from './primordials';

type Require = (specifier: string) => object;
/** Gives a module an export whose value is looked up whenever it is used. */
type Offer = (name: string, get: () => unknown) => void;
type Factory = (exports: object, require: Require, offer: Offer) => void;
type Define = (path: string, imports: Record<string, string>, factory: Factory) => void;

/** The name under which a compiled module finds `define`; gone before any module is evaluated. */
export const defineName = '__define';

/** The program's modules: defined by their scripts, evaluated when first imported. */
export function createModules(): { evaluate(path: string): Record<string, unknown> } {
  const defined = new Map<string, { imports: Record<string, string>; factory: Factory }>();
  const evaluated = new Map<string, Record<string, unknown>>();
  const define: Define = (path, imports, factory) => void defined.set(path, { imports, factory });
  Object.defineProperty(globalThis, defineName, { value: define, configurable: true });

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
    module.factory(exports, require, offer);
    return exports;
  }

  return {
    evaluate(path) {
      Reflect.deleteProperty(globalThis, defineName);
      return evaluate(path);
    },
  };
}
