import type { Context } from 'koa';
import { unlessHidden } from '../../apps';
import { notFound } from '../../common/errors';
import { THUMBNAIL } from '../../files';
import type { PrivateFile } from '../../files/types';
import type { Exchange, HttpServices, TargetOf } from '../request/exchange';
import { openStored, sendContent } from '../response/sent-file';
import { hasOpened } from './own-records';

/** The query that asks for a file to be kept instead of shown. */
const DOWNLOAD = 'download';

/** Types that a browser shows without running anything in them; all others become downloads. */
const shown =
  /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp|tiff|heic|heif)|application\/pdf|text\/plain|(?:audio|video)\/[\w.+-]+)$/;

/** Types that a browser might run: they are never sent as what they are. */
const active = /html|xml|svg|script|xsl/i;

/** Nothing of the file may load or run anything. The viewers of browsers for PDF do not work in a sandbox. */
const policyOf = (mime: string): string =>
  mime === 'application/pdf'
    ? "default-src 'none'; style-src 'unsafe-inline'; object-src 'self'"
    : "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; media-src 'self'; sandbox";

/** The same for a file that is not there, one of another app, and one whose record the requester may not view. */
const noFile = () => notFound('There is no such file');

/**
 * `GET <app>/files/<file id>/<name>`: a private file, for those who may view a record that names it, and in a browser that has opened a
 * link of such a record (docs/reference/files.md). Who may not gets the same 404 as for a file that is not there.
 */
export async function getFile(exchange: Exchange<TargetOf<'file'>>): Promise<void> {
  const { ctx, services, site, app, rights, target } = exchange;
  ctx.set('Cache-Control', 'private, no-store');
  const key = { site: site.id, app: app.id };
  const [file] = await services.files.privateFiles([target.id]);
  if (!file || file.site !== key.site || file.app !== key.app || file.name !== target.name) throw noFile();
  const records = await services.store.recordsWithFile(key, file.documentId);
  const mayView =
    records.some((record) => rights.view(record.creator) && unlessHidden({ app, rights }, record)) ||
    (await hasOpened(exchange, records));
  if (!mayView) throw noFile();
  await sendPrivate(ctx, services, file);
}

/**
 * Sends a private file, or its small picture. The caller has checked the right. Caches ask each time, because rights change. What Strapi's
 * private provider has stored is at an address that it signs now: the answer leads there, and no cache keeps it.
 */
export async function sendPrivate(ctx: Context, { files }: HttpServices, file: PrivateFile): Promise<void> {
  const asked = new URLSearchParams(ctx.querystring);
  const isSmall = asked.has(THUMBNAIL);
  const part = isSmall ? file.thumbnail : file.main;
  const opened = await files.open(file, isSmall ? 'thumbnail' : 'main');
  if (!part || !opened) throw noFile();
  const { mime } = part;
  const isShown = shown.test(mime) && !active.test(mime) && !asked.has(DOWNLOAD);
  if ('url' in opened) {
    ctx.set({ 'Cache-Control': 'private, no-store', 'Referrer-Policy': 'no-referrer' });
    ctx.status = 302;
    ctx.set('Location', URL.canParse(opened.url) ? new URL(opened.url).href : opened.url);
    return;
  }
  const { size } = opened;
  const tag = `"${file.documentId}-${size.toString(36)}${isSmall ? '-small' : ''}"`;
  try {
    const read = await openStored(ctx, opened, tag);
    if (!read) throw noFile();
    ctx.attachment(file.name, { type: isShown ? 'inline' : 'attachment' });
    ctx.set({
      'Content-Type': active.test(mime) ? 'application/octet-stream' : mime,
      'Content-Security-Policy': policyOf(mime),
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Cache-Control': 'private, no-cache',
    });
    sendContent(ctx, { size, tag, read });
  } finally {
    await opened.close();
  }
}
