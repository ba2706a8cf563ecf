import type { Json } from '../../../shared/json';

/** A layout, parsed once for each revision. Parse errors are DefinitionErrors with file, line and column. */
export interface CompiledLayout {
  /**
   * Names of the elements placed with single braces, in order, without repetition. A `.` may belong to a name or come
   * before a key: for `{a.b}` both `a.b` and `a` are listed.
   */
  readonly elements: readonly string[];
  /**
   * Whether the layout shows the element: by `{name}`, by `elements.name` in Liquid, or by a form control of that name in
   * its own markup. True for all where Liquid reads `elements` without naming one.
   */
  shows(name: string): boolean;
  /** Every place that names an element, with its position. */
  named(): NamedElement[];
  /** Whether its Liquid names `context`. */
  readonly namesContext: boolean;
  render(data: LayoutData): Promise<string>;
}

/** A place of a layout that names an element. */
export interface NamedElement {
  /** Names that it may mean, the longest first: `{a.b}` is the element `a.b`, else `b` of `a`. */
  names: readonly string[];
  /** The layout or partial. */
  path: string;
  line: number;
  column: number;
}

export interface LayoutData {
  /**
   * The content of an element: `{ html }` is inserted unchanged (a string from BASIC, or a rendered input), `{ value }` is
   * an object or other JSON of a BASIC element (`{info.title}` escaped as text), undefined: not declared. The HTML of an
   * element that has `failed` is its error mark: it is shown once, where the layout names the element first, and Liquid
   * reads an empty list, false and an empty text. `parts` has the values of an element's keys: `{author.title}`, `text` what filters and
   * conditions read, where that is not the HTML.
   */
  element(
    name: string,
  ): Promise<{ html: string; failed?: boolean; parts?: Json; text?: string } | { value: Json } | undefined>;
  /** Liquid's variable `context`. */
  context: { [key: string]: unknown };
  /** Further variables of Liquid, such as `main` of a theme's layout; HTML is wrapped with `html()`. */
  variables?: { [name: string]: unknown };
  /** HTML for `{% block "rating/blocks/rate" %}`; without it the tag is a DefinitionError. */
  block?(path: string): Promise<string>;
  /** HTML for `{% flash %}`; without it the tag is a DefinitionError. */
  flash?(): Promise<string>;
  /** The address of a public file for the filter `asset_url`, which without it gives the path. */
  assetUrl?(path: string): Promise<string>;
  /**
   * Called when the layout reads the time. @param until milliseconds since 1970, before which the same is made of it; undefined
   * where that is not known
   */
  onClock?(until: number | undefined): void;
  /** Called when the layout draws a random entry. */
  onRandom?(): void;
  /** Without it, dates and numbers are English, and the filter `t` knows no message. */
  locale?: LayoutLocale;
  /** Called for each key without a message. */
  onUnknownMessage?(key: string): void;
  /** Shows `UNDEFINED ELEMENT` in place of undeclared elements. */
  debug: boolean;
  /** Called once for each undeclared element. */
  onUndefined(name: string): void;
  /**
   * Called once for each undefined variable of an output, with the file and line of the first one; returns the HTML that
   * is shown instead.
   */
  onUnknown?(name: string, at: { path: string; line: number }): string;
}

export interface LayoutSource {
  path: string;
  text: string;
  /** Made for Rapido: doubled braces are literal braces, and single ones are elements everywhere. */
  rapido?: boolean;
  /** Why the file has no text; rendering it is then this DefinitionError. */
  problem?: string | undefined;
  /** What `{% render "<name>" %}` can put into it, by name. */
  partials?: ReadonlyMap<string, LayoutSource>;
}

/** Language and time zone of a rendering (docs/reference/languages.md). */
export interface LayoutLocale {
  /** BCP 47 tag for dates and numbers, such as `fr-CA`. */
  tag: string;
  /** IANA time zone of dates; null: the server's. */
  timeZone: string | null;
  /** The message of a key, with values in its placeholders; null when there is none. */
  translate(key: string, values: { [name: string]: unknown }): string | null;
}

/** The public interface of layouts/. */
export interface Layouts {
  compile(source: LayoutSource): CompiledLayout;
}
