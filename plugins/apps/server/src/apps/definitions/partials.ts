import type { LayoutSource } from '../../layouts/types';
import type { AppFolder, ThemeFile } from '../../sites/types';

/**
 * Links to the pages of a list: `{% render "paging", total: 120, size: 20 %}`
 * (docs/reference/layouts.md#pages-of-a-list). A theme or app may replace it by a file of its own.
 */
const paging = `{%- assign name = param | default: "page" -%}
{%- assign now = page | default: context.request.query[name] | default: 1 | plus: 0 -%}
{%- assign pages = total | divided_by: size | ceil -%}
{%- if pages > 1 -%}
<nav class="apps-paging" aria-label="{{ 'apps.paging' | t }}">
{%- if now > 1 %}{% assign before = now | minus: 1 %}<a rel="prev" href="{{ context.request.url | with_query: name, before }}">{{ 'apps.previous' | t }}</a> {% endif -%}
<span aria-current="page">{{ 'apps.page_of' | t: page: now, pages: pages }}</span>
{%- if now < pages %}{% assign after = now | plus: 1 %} <a rel="next" href="{{ context.request.url | with_query: name, after }}">{{ 'apps.next' | t }}</a>{% endif -%}
</nav>
{%- endif -%}`;

const builtIn: readonly (readonly [string, LayoutSource])[] = [
  ['paging', { path: 'partials/paging.html', text: paging }],
];

/** The partials in the given files, the first of which win, and the plugin's own. */
function partialsIn(...all: readonly ReadonlyMap<string, ThemeFile>[]): ReadonlyMap<string, LayoutSource> {
  const own = [...all].reverse().flatMap((files) =>
    [...files.values()].flatMap((file) => {
      const name = /^partials\/([^/]+)\.(?:html|liquid)$/.exec(file.path)?.[1];
      return name === undefined ? [] : [[name, { path: file.path, text: file.text, problem: file.problem }] as const];
    }),
  );
  return new Map([...builtIn, ...own]);
}

/** The partials that the layouts of an app can render: its own, then those of its theme. */
export function partialsOf({ files, themeFiles }: AppFolder): ReadonlyMap<string, LayoutSource> {
  return partialsIn(files, themeFiles);
}

const sources = new WeakMap<ThemeFile, LayoutSource>();

/** A file of a theme with the theme's partials: one object for a file, because layouts are compiled once for each. */
export function themeSource(file: ThemeFile, files: ReadonlyMap<string, ThemeFile>): LayoutSource {
  const { path, text } = file;
  const source = sources.get(file) ?? { path, text, partials: partialsIn(files) };
  sources.set(file, source);
  return source;
}
