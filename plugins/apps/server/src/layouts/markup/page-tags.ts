import { Token, type TokenHandler, type Tokenizer, TokenizerMode } from 'parse5';
import { shortWork } from '../../common/time/pace';
import { CountedTokenizer, Work } from './bounded-parser';

/** What the tags of a whole page say; a text, a comment and a `<template>` have no tags. */
export interface PageTags {
  hasScript: boolean;
  hasCanonical: boolean;
  /** Where the head ends in the text; -1 if no tag ends it. */
  headEnd: number;
}

/** Elements whose content is text, and how it is read. */
const texts: Readonly<Record<string, Tokenizer['state']>> = {
  title: TokenizerMode.RCDATA,
  textarea: TokenizerMode.RCDATA,
  style: TokenizerMode.RAWTEXT,
  xmp: TokenizerMode.RAWTEXT,
  iframe: TokenizerMode.RAWTEXT,
  noembed: TokenizerMode.RAWTEXT,
  noframes: TokenizerMode.RAWTEXT,
  noscript: TokenizerMode.RAWTEXT,
  script: TokenizerMode.SCRIPT_DATA,
  plaintext: TokenizerMode.PLAINTEXT,
};

/** Characters that are read at once. */
const PIECE = 50_000;

/**
 * Looks in the tags of a page for the canonical address, which counts in the head only, and for a script whose address ends
 * with `script`. The page is read until both are known. A tag above the limits of HTML ends the search: nothing after it
 * counts.
 */
export async function pageTags(html: string, script: string): Promise<PageTags> {
  const found = new TagSearch(script, html.includes(script));
  const tokenizer = new CountedTokenizer({ sourceCodeLocationInfo: true }, found, Work.inline());
  found.read = (mode) => {
    tokenizer.state = mode;
  };
  try {
    for (let at = 0; at < html.length && !found.isDone; at += PIECE)
      await shortWork(() => tokenizer.write(html.slice(at, at + PIECE), at + PIECE >= html.length));
  } catch {
    // Too many attributes in one tag.
  }
  return found;
}

class TagSearch implements TokenHandler, PageTags {
  hasScript = false;
  hasCanonical = false;
  headEnd = -1;
  read: (mode: Tokenizer['state']) => void = () => undefined;
  private templates = 0;

  /** @param mayHaveScript whether its address is in the text at all */
  constructor(
    private readonly script: string,
    private readonly mayHaveScript: boolean,
  ) {}

  get isDone(): boolean {
    return this.headEnd >= 0 && (this.hasScript || !this.mayHaveScript);
  }

  onStartTag(token: Token.TagToken): void {
    const { tagName } = token;
    const mode = texts[tagName];
    if (mode !== undefined) this.read(mode);
    if (tagName === 'template') this.templates += 1;
    if (this.templates > 0) return;
    if (tagName === 'body') this.endHead(token);
    if (tagName === 'script') this.hasScript ||= this.isScript(Token.getTokenAttr(token, 'src'));
    if (tagName !== 'link' || this.headEnd >= 0) return;
    const rel = Token.getTokenAttr(token, 'rel') ?? '';
    this.hasCanonical ||= rel.toLowerCase().split(/\s+/).includes('canonical');
  }

  onEndTag(token: Token.TagToken): void {
    const { tagName } = token;
    if (tagName === 'template') this.templates = Math.max(0, this.templates - 1);
    if (tagName === 'head' && this.templates === 0) this.endHead(token);
  }

  private isScript(src: string | null): boolean {
    return src?.split('?', 1)[0]?.endsWith(this.script) ?? false;
  }

  private endHead({ location }: Token.TagToken): void {
    if (this.headEnd < 0) this.headEnd = location?.startOffset ?? -1;
  }

  onComment(): void {}
  onDoctype(): void {}
  onEof(): void {}
  onCharacter(): void {}
  onNullCharacter(): void {}
  onWhitespaceCharacter(): void {}
}
