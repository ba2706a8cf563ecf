import {
  type Context,
  type Emitter,
  Hash,
  type Liquid,
  CaptureTag as LiquidCapture,
  EchoTag as LiquidEcho,
  Tag,
  type TagToken,
  type Template,
  TokenKind,
  type TopLevelToken,
  Value,
} from 'liquidjs';
import { definitionError } from '../../common/errors';
import type { Clock } from '../limits';
import type { LayoutData } from '../types';
import { BRACE_TAG, type BraceToken } from './braces';
import type { Elements } from './elements';
import { captured, escaping, plainText } from './html';
import { definitionErrorOf, registerCase } from './layout-errors';

/** Data of a rendering besides Liquid's own; a layout cannot read it. */
export interface Rendering {
  elements: Elements;
  clock: Clock;
  data: LayoutData;
  /** The variables that every file of the layout knows. */
  scope: object;
}

const RENDERING = 'apps.rendering';

/** A parsed partial. */
interface Partial {
  path: string;
  templates: Template[];
}

/** Maps each tag `render` to the partials of its layout, while the layout is parsed. */
const partialsOf = new WeakMap<TopLevelToken, (name: string) => Partial>();

/** Sets what the tags `render` among the tokens of a layout put into it. @param partial throws for an unknown name */
export function setPartials(tokens: readonly TopLevelToken[], partial: (name: string) => Partial): void {
  for (const token of tokens)
    if (token.kind === TokenKind.Tag && (token as TagToken).name === 'render') partialsOf.set(token, partial);
}

/** Stores one rendering's data in Liquid's context, in a register, which no layout can read. */
export function keepRendering(context: Context, rendering: Rendering): void {
  context.setRegister(RENDERING, rendering);
}

export function renderingOf(context: Context): Rendering {
  return context.getRegister<Rendering>(RENDERING);
}

/** The tag of `{name}`. */
class ElementTag extends Tag {
  readonly brace: BraceToken;

  constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
    super(token, rest, liquid);
    this.brace = token as unknown as BraceToken;
    this.brace.placed = true;
  }

  *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    emitter.write(yield renderingOf(context).elements.render(this.brace));
  }
}

/** `{% block "rating/blocks/rate" %}`: embeds a block's page (docs/reference/embedding.md#tags-and-tiles). */
class BlockTag extends Tag {
  private readonly path: Value;

  constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
    super(token, rest, liquid);
    this.tokenizer.skipBlank();
    if (this.tokenizer.end()) throw new Error('The tag "block" needs a path, such as {% block "rating/blocks/rate" %}');
    this.path = new Value(this.tokenizer.readFilteredValue(), liquid);
  }

  *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const { block } = renderingOf(context).data;
    if (!block) throw definitionError('The tag "block" can only be used in templates of the theme');
    const path = plainText(yield this.path.value(context, false));
    emitter.write(yield renderingOf(context).clock.stoppedDuring(() => block(path)));
  }
}

/** `{% flash %}`: messages for the visitor (docs/reference/site.md#messages-for-the-visitor). */
class FlashTag extends Tag {
  *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const { flash } = renderingOf(context).data;
    if (!flash) throw definitionError('The tag "flash" can only be used in the layout and the templates of the theme');
    emitter.write(yield renderingOf(context).clock.stoppedDuring(flash));
  }
}

/** `{% render "card", title: page.title %}`: a partial, which knows these variables, `context` and `elements` only. */
class RenderTag extends Tag {
  private readonly partial: Partial | undefined;
  private readonly variables: Hash;

  constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
    super(token, rest, liquid);
    this.tokenizer.skipBlank();
    const name = this.tokenizer.readQuoted()?.content;
    if (name === undefined)
      throw new Error('The tag "render" needs the name of a partial in quotes: {% render "card" %}');
    this.partial = partialsOf.get(token)?.(name);
    this.variables = new Hash(this.tokenizer);
  }

  *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const variables = (yield this.variables.render(context)) as object;
    const scope = Object.assign(Object.create(null), renderingOf(context).scope, variables);
    if (!this.partial) return;
    try {
      yield this.liquid.renderer.renderTemplates(this.partial.templates, context.spawn(scope), emitter);
    } catch (error) {
      throw definitionErrorOf(error, this.partial.path);
    }
  }
}

/** `{% capture name %}`: its text is not escaped twice when it is shown. */
class CaptureTag extends LiquidCapture {
  override *render(context: Context): Generator<unknown, void, unknown> {
    yield super.render(context);
    const scope = context.bottom() as { [name: string]: unknown };
    scope[this.variable] = captured(String(scope[this.variable]));
  }
}

/** `{% echo value %}`: writes what `{{ value }}` does. */
class EchoTag extends LiquidEcho {
  override *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const { value } = this as unknown as { value?: Value };
    if (!value) return;
    const isRaw = value.filters.at(-1)?.raw;
    const found = yield value.value(context, false);
    emitter.write(isRaw ? plainText(found) : yield escaping.call({ context } as never, found));
  }
}

/** Tags of Liquid that read other files, which layouts must not read; `render` reads partials instead. */
const fileTags = ['include', 'layout', 'render', 'block'];

/** Registers the tags of elements and blocks, and removes Liquid's tags that read files. */
export function registerTags(liquid: Liquid): void {
  for (const name of fileTags) delete liquid.tags[name];
  liquid.registerTag(BRACE_TAG, ElementTag);
  liquid.registerTag('block', BlockTag);
  liquid.registerTag('flash', FlashTag);
  liquid.registerTag('render', RenderTag);
  liquid.registerTag('capture', CaptureTag);
  liquid.registerTag('echo', EchoTag);
  registerCase(liquid);
}
