import type { Items, Json } from '../../../../shared/json';
import { type Run, requireHistory, restoreVersion, shownRecords, withRun } from '../../apps';
import { missing, notFound } from '../../common/errors';
import { readBody, readParameters } from '../../common/request-schema';
import type { HistoryVersion } from '../../records';
import { jsonObject } from '../request/body';
import { historyParameters, restoreBody } from '../request/body-schemas';
import type { Exchange, TargetOf } from '../request/exchange';
import { doneOnce, namedRequest } from './kept-answers';
import { recordUrl } from './list';

type HistoryExchange = Exchange<TargetOf<'history'>>;

/** A version as the JSON interface shows it (docs/reference/history.md#over-http). */
const shownVersion = ({ version, at, by, through }: HistoryVersion, items: Items | null): Record<string, Json> => ({
  ...{ version, at: new Date(at).toISOString(), by, through, items },
});

/** `GET <app>/history/<record id>`: what changes have made of a record, newest first. NotFoundError where nothing is known of it. */
export async function getHistory(exchange: HistoryExchange): Promise<void> {
  const { ctx, services, site, app, target } = exchange;
  requireHistory(exchange);
  const { before, limit } = readParameters(historyParameters, ctx.query);
  const key = { site: site.id, app: app.id };
  const { versions, isLast } = await services.history.page(key, { id: target.id, before, limit });
  if (versions.length === 0 && before === undefined) throw notFound(missing.record(target.id, app.id));
  const last = versions.at(-1);
  if (last && !isLast) {
    const next = new URLSearchParams({ limit: String(limit), before: String(last.version) });
    ctx.set('Link', `<${historyUrl(exchange)}?${next}>; rel="next"`);
  }
  ctx.set('Cache-Control', 'private, no-store');
  ctx.body = await shownVersions(exchange, versions);
}

async function shownVersions({ services, site, app }: HistoryExchange, versions: readonly HistoryVersion[]) {
  const records = versions.map(({ id, creator, items }) => ({ id, creator, items: items ?? {}, version: 0, seq: 0 }));
  const shown = await shownRecords(services.files, { site: site.id, app: app.id }, records);
  return versions.map((one, at) => shownVersion(one, one.items && { ...shown[at]?.items, id: one.id }));
}

/** `record` and `history` differ in one name of their addresses alone. */
const historyUrl = (exchange: HistoryExchange): string => {
  const { services, site, app, visit, target } = exchange;
  const base = services.sites.urls.app(site, app.id, visit.contentPath);
  return `${base}/history${recordUrl(exchange, target.id).slice(`${base}/record`.length)}`;
};

/** `POST <app>/history/<record id>`: makes the record what it was after a change, by the rules of its block. */
export async function postHistory(exchange: HistoryExchange): Promise<void> {
  const { ctx, services, visit, app, target } = exchange;
  const { version } = readBody(restoreBody, jsonObject(ctx));
  const restore = async (run: Run) => ({ created: (await restoreVersion(run, target.id, version)).created });
  const done = await doneOnce(exchange, namedRequest(exchange), (keeps) =>
    withRun(services, visit, app, restore, { recordId: target.id, ...keeps }),
  );
  const { created } = done.value;
  ctx.status = created ? 201 : 200;
  ctx.body = { path: recordUrl(exchange, target.id), id: target.id, success: created ? 'created' : 'updated' };
}
