import { defaultOperators, Liquid } from 'liquidjs';
import { type AppsError, isAppsError } from '../errors';
import { compileLayout } from './compile';
import { escaping, raw } from './html';
import { defaultLimits, type LayoutLimits } from './limits';
import { registerTags } from './tags';
import { contains, registerTimedFilters } from './timed';
import type { CompiledLayout, Layouts } from './types';

/**
 * Layouts: Liquid with single-brace elements (contract, section 10). Values in `{{ }}` are escaped, elements and what
 * `html()` marks are not, `| raw` turns the escaping off. Liquid sees own properties only, and no files.
 */
export function createLayouts(limits: Partial<LayoutLimits> = {}): Layouts {
  const all = { ...defaultLimits, ...limits };
  const liquid = new Liquid({
    ownPropertyOnly: true,
    strictFilters: true,
    templates: {},
    operators: { ...defaultOperators, contains },
    outputEscape: escaping as (value: unknown) => string,
  });
  liquid.registerFilter('raw', { raw: true, handler: raw });
  registerTimedFilters(liquid, all);
  registerTags(liquid);
  const compiled = new WeakMap<object, CompiledLayout | AppsError>();
  return {
    compile(source) {
      const known = compiled.get(source) ?? attempt(() => compileLayout(liquid, all, source));
      compiled.set(source, known);
      if (isAppsError(known)) throw known;
      return known;
    },
  };
}

/** A broken layout is not read again at every request either. */
function attempt(compile: () => CompiledLayout): CompiledLayout | AppsError {
  try {
    return compile();
  } catch (error) {
    if (isAppsError(error)) return error;
    throw error;
  }
}

export { escapeHtml, html } from './html';
export type { LayoutLimits } from './limits';
export { createMarkup, type Markup, workersHere } from './markup';
export { doMarkup } from './markup-tasks';
export { selectorProblem } from './selectors';
export { type RulePlace, rulePlaces } from './theme-page';
export type * from './types';
