import { Liquid } from 'liquidjs';
import { compileLayout } from './compile';
import { escaping, raw } from './html';
import { defaultLimits, type LayoutLimits } from './limits';
import { registerTags } from './tags';
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
    outputEscape: escaping as (value: unknown) => string,
  });
  liquid.registerFilter('raw', { raw: true, handler: raw });
  registerTags(liquid);
  const compiled = new WeakMap<object, CompiledLayout>();
  return {
    compile(source) {
      const layout = compiled.get(source) ?? compileLayout(liquid, all, source);
      compiled.set(source, layout);
      return layout;
    },
  };
}

export { escapeHtml, html } from './html';
export { balanced } from './html-tree';
export type { LayoutLimits } from './limits';
export { selectorProblem } from './selectors';
export { type RulePlace, rulePlaces, selected, ThemePage } from './theme-page';
export type * from './types';
