interface Entry {
  app: string;
  block: string | null;
  line: number | null;
  message: string;
}

const unescaped = (text: string) =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

/** The lines that the browser script shows in the console for a page: `<app>/<block>:<line> <message>`. */
export function consoleIn(html: string): string[] {
  const settings = [...html.matchAll(/data-apps-settings='([^']*)'/g)].map(
    ([, json]) => (JSON.parse(unescaped(json as string)) as { log?: Entry[] }).log ?? [],
  );
  const logs = [...html.matchAll(/data-apps-log="([^"]*)"/g)].map(
    ([, json]) => JSON.parse(unescaped(json as string)) as Entry[],
  );
  return [...settings, ...logs].flat().map(({ app, block, line, message }) => {
    return `${block ? `${app}/${block}` : app}${line === null ? '' : `:${line}`} ${message}`;
  });
}
