import { extname } from 'node:path';
import type { Context } from 'koa';
import { browserScript, contentPage, type Visit, variedHeaders } from '../../apps';
import type { Requester } from '../../auth/types';
import { codings, contentVersion, type OwnFile } from '../../common/assets';
import { notFound } from '../../common/errors';
import type { Awaitable } from '../../common/time/awaitable';
import { versionedContent } from '../../sites';
import type { Address, OpenFile } from '../../sites/types';
import { getSiteOpenApi } from '../openapi/document';
import type { Identified, Located } from '../request/exchange';
import { isAnsweredByMethod, READ, requireAccept } from '../request/negotiate';
import { answerUnchanged, setCacheHeaders } from '../response/logic-response';
import { sendContent, sendHandle } from '../response/sent-file';
import { answerLive } from './live';
import { login, logout } from './login';

/** The request's version of a file; an address with the current one may be cached for ever. */
const wantedVersion = (ctx: Context): string | null => new URLSearchParams(ctx.querystring).get('v');

/** How long caches may keep a public file. */
function publicCaching(ctx: Context, version: string | null): string {
  const isCurrent = version !== null && version === wantedVersion(ctx);
  return isCurrent ? 'public, max-age=31536000, immutable' : 'public, max-age=0, must-revalidate';
}

/** Answers with one of the plugin's own files, compressed if the client takes that; parts of it are not compressed. */
async function sendOwnFile(ctx: Context, type: string, file: OwnFile): Promise<void> {
  const whole = ctx.get('Range') === '';
  const coding = (whole && codings.find((one) => ctx.acceptsEncodings(one))) || 'identity';
  const bytes = await file.bytes(coding);
  const { version } = file;
  ctx.type = type;
  ctx.vary('Accept-Encoding');
  if (coding !== 'identity') ctx.set('Content-Encoding', coding);
  ctx.set('Cache-Control', publicCaching(ctx, version));
  sendContent(ctx, {
    size: bytes.length,
    tag: coding === 'identity' ? `"${version}"` : `"${version}-${coding}"`,
    read: (start, end) => bytes.subarray(start, end + 1),
  });
}

/**
 * Answers with an open file, which it closes: type by its ending, ETag by size and time. The answer has the size that the file
 * had when it was opened, even if it changes meanwhile; an answer that may be cached for ever has the bytes of its version.
 */
async function sendFile(ctx: Context, file: OpenFile): Promise<void> {
  const { handle, path, info } = file;
  let streaming = false;
  try {
    ctx.type = extname(path) || 'application/octet-stream';
    const wanted = wantedVersion(ctx);
    const content = wanted === null ? null : await versionedContent(file);
    if (content !== null && content.version === wanted) {
      const { bytes, version } = content;
      const read = (start: number, end: number) => bytes.subarray(start, end + 1);
      ctx.set('Cache-Control', publicCaching(ctx, version));
      return sendContent(ctx, { size: bytes.length, tag: `"${version}"`, read });
    }
    const size = Number(info.size);
    const tag = `"${size.toString(36)}-${(info.mtimeNs / 1_000_000n).toString(36)}"`;
    streaming = sendHandle(ctx, handle, { size, tag, caching: publicCaching(ctx, null) });
  } finally {
    // A stream closes the file at its end, or when the client leaves.
    if (!streaming) await handle.close();
  }
}

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
  ctx.vary(variedHeaders);
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
  const isOwn = visit.tokens.isIssued() || visit.flash?.isTaken() === true;
  answerPage(ctx, { body, version, requester: visit.requester, isOwn, sharedAge });
}

/** Addresses whose answer is the same for all requesters. */
export const isPublic: ReadonlySet<Address['kind']> = new Set([
  'theme-asset',
  'script',
  'live-script',
  'style',
  'reload',
  'reload-script',
]);

/** Addresses of a site with neither content nor an app behind them. */
type Own = Exclude<Address['kind'], 'app' | 'page' | 'view'>;

type Answer<Kind extends Own> = (request: Located<Extract<Address, { kind: Kind }>>) => Awaitable<void>;

const ownFile =
  (type: string, file: (request: Located) => Promise<OwnFile>) =>
  async (request: Located): Promise<void> =>
    sendOwnFile(request.ctx, type, await file(request));

const answers: { [Kind in Own]: Answer<Kind> } = {
  async 'theme-asset'({ ctx, services, address }) {
    const file = await services.sites.asset(address);
    if (!file) throw notFound('There is no such file');
    await sendFile(ctx, file);
  },
  reload({ ctx, services }) {
    if (!services.reloads) throw notFound('Only the command `dev` reloads pages');
    services.reloads.answer(ctx);
  },
  script: ownFile('js', ({ services, site }) => browserScript(services, site)),
  'live-script': ownFile('js', ({ services }) => services.ownFiles.file('live.js')),
  style: ownFile('css', ({ services }) => services.ownFiles.file('apps.css')),
  'reload-script': ownFile('js', ({ services }) => services.ownFiles.file('reload.js')),
  login: ({ ctx, services, site }) => login(ctx, services, site),
  logout: ({ ctx, services, site }) => logout(ctx, services, site),
  async openapi(request) {
    const { ctx, services, site } = request;
    const requester = await services.requesters.identify(ctx);
    Object.assign(request, { requester });
    await getSiteOpenApi(ctx, services, site, requester);
  },
};

/** Addresses that take forms; the others can only be read. */
const takesForms: ReadonlySet<Address['kind']> = new Set(['login', 'logout']);

/** Answers a request for neither: one of an address that each site has. */
export function answerOwn(request: Located): Awaitable<void> {
  const { ctx, services, address } = request;
  const posts = takesForms.has(address.kind);
  if (isAnsweredByMethod(ctx, posts ? [...READ, 'POST'] : READ, posts ? 'This address takes GET and POST' : undefined))
    return;
  if (address.kind === 'view') return answerLive(ctx, services.live);
  return (answers[address.kind as Own] as (request: Located) => Awaitable<void>)(request);
}
