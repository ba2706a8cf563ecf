import type { Context } from 'koa';
import { contentPage, type Visit } from '../../apps';
import type { Requester } from '../../auth/types';
import { contentVersion } from '../../common/content-version';
import { requireAccept } from '../request/negotiate';
import type { Identified } from '../request/stages';
import { answerUnchanged, setCacheHeaders } from '../response/logic-response';

interface FinishedPage {
  body: string;
  /** Of the body, if it is known. */
  version: string | null;
  requester: Requester;
  /** The page is this visitor's alone: it has a form, and with it their CSRF token, or a message that is shown once. */
  isOwn: boolean;
  /** Seconds for which a proxy may keep it. */
  sharedAge: number | null;
}

/**
 * Answers with a page of the site. No cache keeps a page of one visitor (docs/reference/http.md#caching); any other has
 * an ETag, and caches revalidate it each time, because rights and content may change, unless the theme allows proxies to keep it.
 */
function answerPage(ctx: Context, { body, version, requester, isOwn, sharedAge }: FinishedPage): void {
  ctx.vary('Authorization, Cookie, Accept, X-Requested-With');
  ctx.status = 200;
  ctx.type = 'text/html';
  if (isOwn) {
    ctx.set('Cache-Control', 'private, no-store');
    ctx.body = body;
    return;
  }
  const tag = `"${version ?? contentVersion(body)}"`;
  const isPublic = requester.kind === 'anonymous' && ctx.response.get('Set-Cookie') === '';
  const shared = sharedAge === null ? 'public, no-cache' : `public, max-age=0, s-maxage=${sharedAge}`;
  ctx.set('Cache-Control', isPublic ? shared : 'private, no-cache');
  if (!answerUnchanged(ctx, tag)) ctx.body = body;
}

/** Answers `/<site_id>/` and `/<site_id>/<content path>` (docs/reference/site.md#pages). */
export async function showContent({ ctx, services }: Identified, visit: Visit): Promise<void> {
  requireAccept(ctx, false);
  const { body, version, cache, isDebugged, blocks, sharedAge } = await contentPage(services, visit);
  if (isDebugged) setCacheHeaders(ctx, cache, blocks);
  const isOwn = visit.tokens.isIssued || visit.flash?.isTaken === true;
  answerPage(ctx, { body, version, requester: visit.requester, isOwn, sharedAge });
}
