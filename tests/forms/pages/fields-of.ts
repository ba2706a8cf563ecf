const attribute = (tag: string, name: string) => new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1];

const decoded = (text: string) =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** What a browser without scripts would send of a page's form, but for its buttons. */
export function fieldsOf(text: string): Record<string, string | string[]> {
  const fields: Record<string, string[]> = {};
  const add = (name: string | undefined, value: string) => {
    if (name && name !== '_csrf') fields[name] = [...(fields[name] ?? []), decoded(value)];
  };
  for (const [tag] of text.matchAll(/<input\b[^>]*>/g)) {
    const type = attribute(tag, 'type');
    const isBox = type === 'checkbox' || type === 'radio';
    if (type !== 'file' && (!isBox || / checked/.test(tag))) add(attribute(tag, 'name'), attribute(tag, 'value') ?? '');
  }
  for (const [, tag = '', value = ''] of text.matchAll(/(<textarea\b[^>]*>)([^<]*)/g))
    add(attribute(tag, 'name'), value);
  for (const [, tag = '', inner = ''] of text.matchAll(/(<select\b[^>]*>)(.*?)<\/select>/gs)) {
    const [chosen] = /<option[^>]* selected[^>]*>/.exec(inner) ?? /<option[^>]*>/.exec(inner) ?? [];
    if (chosen) add(attribute(tag, 'name'), attribute(chosen, 'value') ?? '');
  }
  return Object.fromEntries(
    Object.entries(fields).map(([name, list]) => [name, list.length === 1 ? (list[0] ?? '') : list]),
  );
}

/** The title of the current page, by its progress mark. */
export const stepOf = (text: string): string | undefined => /<li aria-current="step">([^<]*)</.exec(text)?.[1];
