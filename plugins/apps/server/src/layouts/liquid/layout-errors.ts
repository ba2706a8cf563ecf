import { type Context, type Liquid, LiquidError, type Tag, type TagToken, type TopLevelToken } from 'liquidjs';
import { type AppsError, definitionError, isAppsError } from '../../common/errors';
import { didYouMean } from '../../common/text';
import { BoundedEmitter } from '../limits';
import { MarkError } from './braces';
import { Html } from './html';

/** Runs work on a layout; its errors are DefinitionErrors with the position in the layout. */
export function asDefinitionError<T>(path: string, liquid: Liquid, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw definitionErrorOf(error, path, liquid);
  }
}

/**
 * The error as an AppsError: unchanged if it is one, otherwise a DefinitionError with the position that Liquid gives, which
 * may be in a partial.
 */
export function definitionErrorOf(error: unknown, file: string, liquid?: Liquid): AppsError {
  if (isAppsError(error)) return error;
  if (error instanceof MarkError) return definitionError(error.message, { file, ...error.position });
  if (!LiquidError.is(error)) return definitionError(messageOf(error), { file }, error);
  const { originalError, token } = error as LiquidError & {
    token: { file?: string; getPosition(): [number, number] };
  };
  if (isAppsError(originalError)) return originalError;
  const [line, column] = token.getPosition();
  const message = originalError
    ? messageOf(originalError)
    : error.message.replace(/(, file:[^\n]*)?, line:\d+, col:\d+$/, '');
  return definitionError(explained(message, liquid), { file: token.file ?? file, line, column }, error);
}

/** Tags of Liquid that layouts do not have, and what to write instead. */
const replaced: Readonly<Record<string, string>> = {
  include: ': write {% render "name" %}, which shows partials/name.html',
  layout: ': the theme has one layout, layout.html',
};

/** Liquid's message about what it does not know or cannot read, with what to write instead. */
function explained(message: string, liquid: Liquid | undefined): string {
  const filter = /^undefined filter: (.+)$/.exec(message)?.[1];
  if (filter !== undefined)
    return `There is no filter "${filter}"${didYouMean(filter, Object.keys(liquid?.filters ?? {})) || '.'}`;
  const tag = /^tag "(.+)" not found$/.exec(message)?.[1];
  if (tag !== undefined && /^(?:end|else|elsif|when)/.test(tag)) return `The tag "${tag}" has no beginning before it`;
  if (tag !== undefined) {
    const meant = Object.hasOwn(replaced, tag) ? replaced[tag] : didYouMean(tag, Object.keys(liquid?.tags ?? {}));
    return `There is no tag "${tag}"${meant || '.'}`;
  }
  const [, kind, opened] = /^(output|tag) (?:"|\{% *-? *(\w+)).* not closed$/s.exec(message) ?? [];
  if (kind !== undefined)
    return `${message}: write ${opened === undefined ? (kind === 'tag' ? '%}' : '}}') : `{% end${opened} %}`} at its end`;
  if (message === 'expected "|" before filter')
    return `${message}: put texts in quotes, and compare with == instead of =`;
  return message;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * The value of an element that has failed, and of each key read from it: an empty list, false and an empty text. Its error
 * mark is written by `MarkedEmitter`. An undeclared element is such a value too, with a mark as its own HTML.
 */
export class FailedElement extends Html {
  readonly size = 0;

  constructor(mark = '') {
    super(mark);
  }

  /** What Liquid's conditions and loops take for false, and for a list without entries. */
  override valueOf(): false {
    return false;
  }

  liquidMethodMissing(): FailedElement {
    return this;
  }

  /** For `==`, `!=` and `case`. */
  equals(other: unknown): boolean {
    const value = other instanceof Html ? other.valueOf() : other;
    return value === false || value === null || value === undefined || value === '' || isEmpty(value);
  }

  gt(): boolean {
    return false;
  }

  geq(): boolean {
    return false;
  }

  lt(): boolean {
    return false;
  }

  leq(): boolean {
    return false;
  }
}

/** An empty list, or Liquid's `empty`, `blank` and `nil`: objects with a value of their own. */
function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.length === 0;
  const plain = value.valueOf();
  return plain === '' || plain === null;
}

/** Filters of Liquid that work on a list. */
const ofLists = new Set(
  (
    'array_to_sentence_string compact concat find find_exp find_index find_index_exp first group_by group_by_exp has ' +
    'has_exp join last map pop push reject reject_exp reverse sample shift size sort sort_natural sum uniq unshift where where_exp'
  ).split(' '),
);

/** The value and arguments of a filter, without failed elements: an empty list for a filter of lists, else an empty text. */
export function withoutFailed(filter: string, values: readonly unknown[]): unknown[] {
  if (!values.some(isFailed)) return [...values];
  return values.map((value, index) => {
    if (value instanceof FailedElement) return ofLists.has(filter) && (index === 0 || filter === 'concat') ? [] : '';
    return index > 0 && isFailed(value) ? [(value as unknown[])[0], ''] : value;
  });
}

/** Whether a value, or that of a named argument, has failed. */
const isFailed = (value: unknown): boolean =>
  value instanceof FailedElement || (Array.isArray(value) && value.length === 2 && value[1] instanceof FailedElement);

/** Markup in which a mark cannot stand, and its end. */
const ends = { tag: />/, comment: /-->/, script: /<\/script[\s/>]/i, style: /<\/style[\s/>]/i } as const;

type Markup = keyof typeof ends;

/** Where a comment, a script or a style begins or ends. */
const BOUNDS = /<!--|-->|<(\/?)(script|style)(?=[\s/>])/gi;

/** The markup in which a piece of HTML ends; null in text. Takes linear time. */
function openIn(html: string): Markup | null {
  let [open, from]: [Markup | null, number] = [null, 0];
  for (const { 0: bound, 1: slash, 2: name, index } of html.matchAll(BOUNDS)) {
    const markup = (name?.toLowerCase() ?? 'comment') as Markup;
    if (bound === '-->' || slash === '/') {
      if (open === markup) open = null;
    } else if (!open) [open, from] = [markup, index];
  }
  if (open === 'comment' || (open && html.includes('>', from))) return open;
  const begin = html.lastIndexOf('<');
  return begin >= 0 && /[A-Za-z/!]/.test(html[begin + 1] ?? '') && !html.includes('>', begin) ? 'tag' : null;
}

/**
 * The output of a rendering, with the marks of failed elements. A mark stands where the rendering is when the element is
 * read, which for a tag such as `for` is its place; inside of an HTML tag, a script or a style it stands after its end.
 */
export class MarkedEmitter extends BoundedEmitter {
  #waiting: string[] = [];

  /** Adds a mark at this place of the output. */
  mark(html: string): void {
    this.#waiting.push(html);
    this.#placed();
  }

  override write(html: unknown): void {
    if (this.#waiting.length === 0) super.write(html);
    else this.#writeBeforeMarks(html === null || html === undefined ? '' : String(html));
  }

  /** The whole output, with marks for which there was no place. */
  end(): string {
    const rest = this.#waiting.splice(0).join('');
    super.write(rest);
    return this.buffer;
  }

  /** Writes up to the end of the markup in which the output is, the marks, and the rest. */
  #writeBeforeMarks(html: string): void {
    let rest = html;
    for (let open = openIn(this.buffer); open && rest !== ''; open = openIn(this.buffer)) {
      const end = ends[open].exec(rest);
      const length = end ? end.index + end[0].length : rest.length;
      super.write(rest.slice(0, length));
      rest = rest.slice(length);
    }
    this.#placed();
    super.write(rest);
  }

  /** Writes the marks if the output is in text. */
  #placed(): void {
    if (openIn(this.buffer)) return;
    super.write(this.#waiting.splice(0).join(''));
  }
}

/** What the tag `case` compares, before Liquid takes the plain value of it. */
interface CaseTag {
  render: Tag['render'];
  value: { value(context: Context, lenient?: boolean): Generator<unknown, unknown, unknown> };
}

/** The same comparisons as those of a failed element, in an object of which Liquid does not take the plain value. */
const comparable = (failed: FailedElement) => ({
  equals: (other: unknown) => failed.equals(other),
  gt: failed.gt,
  geq: failed.geq,
  lt: failed.lt,
  leq: failed.leq,
});

type TagArguments = [TagToken, TopLevelToken[], Liquid, unknown];

/** Lets the tag `case` compare a failed element as `==` does. */
export function registerCase(liquid: Liquid): void {
  const Case = liquid.tags.case as unknown as new (...args: TagArguments) => CaseTag;
  class CaseWithFailed extends Case {
    constructor(...args: TagArguments) {
      super(...args);
      const read = this.value.value.bind(this.value);
      this.value.value = function* (...of) {
        const found = yield* read(...of);
        return found instanceof FailedElement ? comparable(found) : found;
      };
    }
  }
  liquid.registerTag('case', CaseWithFailed as unknown as Parameters<Liquid['registerTag']>[1]);
}
