import { type Context, type Emitter, type Liquid, Tag, type TagToken, type TopLevelToken, Value } from 'liquidjs';
import { AppsError } from '../errors';
import { BRACE_TAG, type BraceToken } from './braces';
import type { Elements } from './elements';
import { plainText } from './html';
import type { Clock } from './limits';
import type { LayoutData } from './types';

/** What a rendering needs besides Liquid's own; kept out of reach of the layout. */
export interface Rendering {
  elements: Elements;
  clock: Clock;
  data: LayoutData;
}

const RENDERING = 'apps.rendering';

/** Liquid's context carries one rendering's own data under a name that no layout can read. */
export function keepRendering(context: Context, rendering: Rendering): void {
  context.setRegister(RENDERING, rendering);
}

function renderingOf(context: Context): Rendering {
  return context.getRegister<Rendering>(RENDERING);
}

/** The tag behind `{name}`. */
class ElementTag extends Tag {
  readonly brace: BraceToken;

  constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
    super(token, rest, liquid);
    this.brace = token as unknown as BraceToken;
    this.brace.placed = true;
  }

  *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    emitter.write(yield renderingOf(context).elements.place(this.brace));
  }
}

/** `{% block "rating/blocks/rate" %}`: another block's page in this place (contract, section 11). */
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
    if (!block) throw new AppsError('DefinitionError', 'The tag "block" can only be used in templates of the theme');
    const path = plainText(yield this.path.value(context, false));
    emitter.write(yield renderingOf(context).clock.pausedFor(() => block(path)));
  }
}

/** Tags of Liquid that read other files: a theme's layouts have none to read. */
const fileTags = ['include', 'render', 'layout', 'block'];

/** Gives Liquid the tags of this room, and takes those away that read files. */
export function registerTags(liquid: Liquid): void {
  for (const name of fileTags) delete liquid.tags[name];
  liquid.registerTag(BRACE_TAG, ElementTag);
  liquid.registerTag('block', BlockTag);
}
