/** A mistake of a theme author, and how it is shown. */
export interface Mistake {
  /** The files of the block `m`, by their endings. */
  files: Record<string, string>;
  /** Where it shows; default: the block's page. */
  send?: string;
  form?: Record<string, string>;
  accept?: string;
  status?: number;
  /** In the page or answer, in debug mode. */
  shows?: string | RegExp;
  /** In the visitor's console, in debug mode. */
  console?: RegExp;
  /** In the server's log, always. */
  log: RegExp;
}

/** Files that cannot be read: the ending, the text, the beginning of the message as a pattern, and what to write instead. */
function broken(rows: Record<string, [string, string, string, string]>): Record<string, Mistake> {
  const quoted = (text: string) => text.replaceAll('"', '&quot;');
  const mistakes = Object.entries(rows).map(([name, [ending, text, message, instead]]): [string, Mistake] => {
    const end = instead.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const pattern = `apps/slips/blocks/m.${message}[^\\n]*${end}`;
    return [
      name,
      {
        files: { html: '<p>{found}</p>', js: 'export function found() {}', [ending]: text },
        status: 500,
        shows: new RegExp(quoted(pattern)),
        log: new RegExp(pattern.replace('apps/slips', 'apps/[^\\n]*')),
      },
    ];
  });
  return Object.fromEntries(mistakes);
}

/** Files that cannot be read, each with what its message says to write instead. */
export const brokenFiles = broken({
  'an indentation by tabs': [
    'yaml',
    'elements:\n\tfound: BASIC\n',
    'yaml:2:1: This is not valid YAML: tab characters',
    'Indent with',
  ],
  'an element twice': [
    'yaml',
    'elements:\n  found: BASIC\n  found: BASIC\n',
    'yaml:3:3: .*duplicated mapping key "found"',
    'Remove one',
  ],
  'a text that needs quotes': [
    'yaml',
    'title: {found} of it\n',
    'yaml:1:16: .*bad indentation',
    'Put a text in quotes',
  ],
  'no space after a colon': [
    'yaml',
    'elements:\n  found:BASIC\n',
    'yaml:2:3: elements: ',
    'write a space after the colon: "found: BASIC"',
  ],
  'an index of an unknown type': [
    'yaml',
    'elements: { found: { type: BASIC, index_type: fulltext } }\n',
    'yaml:1:47: ',
    '"field" or "text"',
  ],
  'an unknown filter': [
    'html',
    '<p>\n{{ "x" | upcas }}</p>',
    'html:2:1: There is no filter "upcas"',
    'did you mean "upcase"',
  ],
  'an unknown tag': [
    'html',
    '{% include "card" %}',
    'html:1:1: There is no tag "include"',
    'write {% render "name" %}',
  ],
  'a partial that is not there': [
    'html',
    '{% render "card" %}',
    'html:1:1: There is no partial "card"',
    'would be partials/card.html',
  ],
  'a comparison with one sign': [
    'html',
    '{% if context.mode = "text" %}x{% endif %}',
    'html:1:\\d+: expected',
    'compare with ==',
  ],
});
