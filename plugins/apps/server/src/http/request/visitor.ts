import type { Context } from 'koa';
import type { Visit } from '../../apps';
import type { Site } from '../../sites/types';
import type { HttpServices } from './exchange';

/**
 * The visitor of a request, and the marks of forms that it shows. The cookie of a request that a page of another origin has
 * sent does not count. It is valid below the site's address.
 */
export function visitorOf(
  ctx: Context,
  { requesters }: HttpServices,
  site: Site,
): Required<Pick<Visit, 'visitor' | 'forms'>> {
  const { visitors } = requesters;
  let id: string | null | undefined;
  const known = (): string | null => {
    id ??= requesters.takesCookies(ctx) ? visitors.read(site.id, ctx.cookies.get(visitors.cookie)) : null;
    return id;
  };
  return {
    visitor: {
      id: known,
      begin() {
        if (known() !== null || !requesters.takesCookies(ctx)) return;
        id = visitors.create();
        const secure = ctx.secure || site.url.startsWith('https:');
        ctx.append('Set-Cookie', visitors.header(site.id, id, new URL(site.url).pathname, secure));
      },
    },
    forms: {
      shown: (app, block) => visitors.shown([site.id, app, block]),
      age: (app, block, mark) => visitors.age([site.id, app, block], mark),
      challenge: (app) => JSON.stringify(requesters.proofs.challenge([site.id, app])),
    },
  };
}
