import { defaultOperators, Liquid } from 'liquidjs';
import { memoized } from '../common/collections';
import { attempt } from '../common/errors';
import { defaultLimits, type LayoutLimits } from './limits';
import { compileLayout, contains, registerTimedFilters } from './liquid/compile';
import { registerDateFilters, registerLocaleFilters, registerStandardFilters } from './liquid/filters';
import { escaping, markdownFilter, raw, registerHtmlFilters } from './liquid/html';
import { registerTags } from './liquid/tags';
import type { Markdown } from './markdown';
import type { LayoutSource, Layouts } from './types';

/**
 * Layouts: Liquid with single-brace elements (docs/reference/layouts.md). Values in `{{ }}` are escaped; elements,
 * `html()` values and `| raw` are not. Liquid reads own properties only, and no files.
 * @param markdown the filter `markdown`; without it, layouts that name it are DefinitionErrors
 */
export function createLayouts(limits: Partial<LayoutLimits> = {}, markdown?: Markdown): Layouts {
  const all = { ...defaultLimits, ...limits };
  const liquid = new Liquid({
    ownPropertyOnly: true,
    strictFilters: true,
    templates: {},
    operators: { ...defaultOperators, contains },
    outputEscape: escaping as (value: unknown) => string,
  });
  liquid.registerFilter('raw', { raw: true, handler: raw });
  registerStandardFilters(liquid);
  registerHtmlFilters(liquid);
  registerLocaleFilters(liquid);
  registerDateFilters(liquid);
  if (markdown) liquid.registerFilter('markdown', markdownFilter(markdown));
  registerTimedFilters(liquid, all);
  registerTags(liquid);
  // The error of a broken layout is kept too.
  const compiled = memoized((source: LayoutSource) => attempt(() => compileLayout(liquid, all, source)));
  return {
    compile(source) {
      const { value, error } = compiled(source);
      if (error) throw error;
      return value;
    },
  };
}

export { escapeHtml, html } from './liquid/html';
export { createMarkdown, MAX_MARKDOWN, type Markdown } from './markdown';
export { createMarkup, doMarkup, type Markup } from './markup/markup';
export { pageTags } from './markup/page-tags';
export { type RuleAction, ruleActions } from './markup/page-tree';
export { selectorProblem } from './markup/selectors';
export type * from './types';
