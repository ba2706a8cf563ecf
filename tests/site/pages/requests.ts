import type { Stage } from '../../support/stage';

export const page = { accept: 'text/html' } as const;

/** Opens pages of the site. */
export function pagesOf(stage: Stage) {
  const html = async (send: string, as = 'anonymous') => (await stage.send({ ...page, send, as })).text;

  const whereIn = (text: string) =>
    JSON.parse(/<div class="where">(.*?)<\/div>/s.exec(text)?.[1]?.replaceAll('&quot;', '"') ?? 'null');

  const where = async (send: string, as?: string) => whereIn(await html(send, as));

  return { html, whereIn, where };
}
