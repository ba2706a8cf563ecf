import { TokenKind, type TopLevelToken } from 'liquidjs';

/** A quoted text, which is skipped, or `elements` as a variable with the member that follows it. */
const READ = /"[^"]*"|'[^']*'|(?<![\w.-])elements\b(?:\s*\.\s*([\w-]+)|\s*\[\s*(?:"([^"]*)"|'([^']*)')\s*\])?/g;

const CONTROL = /<(?:input|select|textarea|button)\b([^<>]*)/gi;
const CONTROL_NAME = /(?:^|[\s"'/])name\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=`]+))/i;

/** Stands for Liquid in a text: no name of a form control that is partly made by Liquid equals an element's. */
const GAP = '\u0000';

/**
 * Which elements a layout shows, apart from single braces: those that its Liquid reads as `elements.name`, and those for
 * which its own markup has a form control of that name. All of them where Liquid reads `elements` in a way that does not
 * name one, such as `elements[name]`. What stands in `{% comment %}` is not shown. Takes time in proportion to the text.
 */
export function shownIn(tokens: readonly TopLevelToken[]): (name: string) => boolean {
  const shown = new Set<string>();
  const texts: string[] = [];
  let everything = false;
  let comments = 0;
  for (const token of tokens) {
    const { name } = token as { name?: string };
    if (token.kind === TokenKind.Tag && name === 'comment') comments += 1;
    if (token.kind === TokenKind.Tag && name === 'endcomment') comments -= 1;
    if (comments > 0) continue;
    if (token.kind === TokenKind.HTML) texts.push(token.getText());
    else {
      texts.push(GAP);
      for (const [whole, ...members] of token.getText().matchAll(READ)) {
        if (!whole.startsWith('elements')) continue;
        const member = members.find((found) => found !== undefined);
        if (member === undefined) everything = true;
        else shown.add(member);
      }
    }
  }
  for (const name of controlNames(texts.join(''))) shown.add(name);
  return (name) => everything || shown.has(name);
}

/** Names of the form controls in a piece of HTML. */
function controlNames(html: string): string[] {
  return [...html.matchAll(CONTROL)].flatMap(([, attributes = '']) => {
    const [, ...quoted] = CONTROL_NAME.exec(attributes) ?? [];
    return quoted.find((found) => found !== undefined) ?? [];
  });
}
