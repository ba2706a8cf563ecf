import type { Json } from '../../../shared/json';

/** A layout, parsed once a revision. Parse errors are DefinitionErrors with file, line and column. */
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
  render(data: LayoutData): Promise<string>;
}

export interface LayoutData {
  /**
   * What stands for an element: `{ html }` goes in as it is (a string from BASIC, or a rendered input), `{ value }` is
   * an object or other JSON of a BASIC element (`{info.title}` escaped as text), undefined: not declared. The HTML of
   * one that has `failed` stands for its keys too.
   */
  element(name: string): Promise<{ html: string; failed?: boolean } | { value: Json } | undefined>;
  /** What Liquid sees as `context`. */
  context: { [key: string]: unknown };
  /** Further names that Liquid sees, such as `main` of a theme's layout; finished HTML is wrapped with `html()`. */
  variables?: { [name: string]: unknown };
  /** HTML for `{% block "rating/blocks/rate" %}`; without it the tag is a DefinitionError. */
  block?(path: string): Promise<string>;
  /** Shows `UNDEFINED ELEMENT` in place of undeclared elements. */
  debug: boolean;
  /** Told once for each undeclared element that was met. */
  onUndefined(name: string): void;
  /**
   * Called once for each variable that an output names and nothing defines, with the first such line; returns the HTML that
   * is shown instead.
   */
  onUnknown?(name: string, line: number): string;
  /** `performance.now()` at which the rendering must have ended, else LogicTimeoutError. */
  signal?: { deadline: number };
}

export interface LayoutSource {
  path: string;
  text: string;
  /** Made for Rapido: doubled braces are literal braces, and single ones are elements everywhere. */
  rapido?: boolean;
}

/** Front of the room. */
export interface Layouts {
  compile(source: LayoutSource): CompiledLayout;
}
