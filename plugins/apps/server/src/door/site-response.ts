import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { Requester } from '../requester/types';

export interface FinishedPage {
  body: string;
  requester: Requester;
  /** The page has a form, and with it a CSRF token of this requester. */
  carriesToken: boolean;
}

/**
 * Answers with a page of the site. One with a token is nobody else's and kept by nobody (contract, section 5); any other
 * has an ETag and is asked for anew each time, for rights and content may change.
 */
export function answerPage(ctx: Context, { body, requester, carriesToken }: FinishedPage): void {
  ctx.vary('Authorization, Cookie, Accept, X-Requested-With');
  ctx.status = 200;
  ctx.type = 'text/html';
  if (carriesToken) {
    ctx.set('Cache-Control', 'private, no-store');
    ctx.body = body;
    return;
  }
  const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const isPublic = requester.kind === 'anonymous' && ctx.response.get('Set-Cookie') === '';
  ctx.set({ 'Cache-Control': isPublic ? 'public, no-cache' : 'private, no-cache', ETag: tag });
  if (isKnown(ctx, tag)) ctx.status = 304;
  else ctx.body = body;
}

function isKnown(ctx: Context, tag: string): boolean {
  const known = ctx
    .get('If-None-Match')
    .split(',')
    .map((entry) => entry.trim().replace(/^W\//, ''));
  return known.includes(tag) || known.includes('*');
}
