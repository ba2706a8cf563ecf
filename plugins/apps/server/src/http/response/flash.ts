import type { Context } from 'koa';
import { type Flash, flashHtml, siteLocale } from '../../apps';
import type { Site } from '../../sites/types';
import type { HttpServices } from '../request/exchange';

/**
 * The messages that a request shows or keeps for the next one (docs/reference/logic.md#messages-for-the-visitor): those of
 * the visitor's cookie, and those of its own logic.
 */
export function flashOf(ctx: Context, services: HttpServices, site: Site): Flash {
  const { requesters } = services;
  const { flashes } = requesters;
  const at = { id: site.id, path: new URL(site.url).pathname };
  const secure = ctx.secure || site.url.startsWith('https:');
  const set = (messages: Parameters<typeof flashes.header>[1]) =>
    ctx.append('Set-Cookie', flashes.header(at, messages, secure));
  // A browser that prefetches a page shows nothing; HEAD has no page.
  const shows = ctx.method !== 'HEAD' && !/prefetch/.test(`${ctx.get('Sec-Purpose')} ${ctx.get('Purpose')}`);
  const kept = shows && requesters.takesCookies(ctx) ? flashes.read(site.id, ctx.cookies.get(flashes.cookie)) : [];
  const messages = [...kept];
  let isTaken = false;
  return {
    get isTaken() {
      return isTaken;
    },
    get isEmpty() {
      return isTaken || messages.length === 0;
    },
    add(more) {
      messages.push(...more);
    },
    async take() {
      if (isTaken || messages.length === 0) return '';
      isTaken = true;
      if (kept.length > 0) set([]);
      return flashHtml(messages, (await siteLocale(services, site)).say('go_on'));
    },
    keep() {
      if (messages.length > kept.length || isTaken) set(messages);
    },
  };
}
