import type { Items } from '../../../../shared/json';
import { movable, type Run } from '../../apps';
import { closedLists, type RecordRight } from '../../auth';
import { AppsError } from '../../common/errors';
import type { Exchange } from '../request/exchange';

type Sender = Pick<Exchange, 'app' | 'requester'>;

/**
 * The ForbiddenError where nothing but `json` in settings.yaml keeps the requester from a right by the JSON interface
 * (docs/reference/rights.md#the-json-interface), also for anonymous: a login would not help.
 * @param own whether the record is the requester's
 */
export function jsonRefusal({ app, requester }: Sender, right: RecordRight, own: boolean): AppsError | null {
  const { acl, json, strict, source } = app.settings;
  const lists = closedLists(requester, acl, json, right, own);
  if (lists.length === 0) return null;
  const named = lists.map((list) => `"${json[list]}" for "${list}"`).join(', ');
  const message = `The JSON interface cannot be used for this: "json" in settings.yaml is ${named}`;
  const isDefault = strict && source.json === undefined;
  return new AppsError('ForbiddenError', isDefault ? `${message}, the default of a strict app` : message, {
    details: { key: 'json', lists },
  });
}

/** Throws it where the requester can use the right for no record. @param owns whether the requester may own records */
export function requireJsonUse(sender: Sender, right: RecordRight, owns: boolean): void {
  const refused = jsonRefusal(sender, right, owns);
  if (refused) throw refused;
}

/** Throws it for one record: a list that is open may give a right to own records, and one that is closed to all. */
export async function requireJsonUseOf(
  run: Run,
  exchange: Exchange,
  right: 'edit' | 'delete',
  id: string,
): Promise<void> {
  const refused = jsonRefusal(exchange, right, false);
  if (!refused) return;
  const record = await run.unit.get({ site: exchange.site.id, app: exchange.app.id }, id);
  if (record && !exchange.rights[right](record.creator)) throw refused;
}

/**
 * Throws it for a change of a state by one who may neither change nor see the record by the JSON interface: whom `by` names needs the
 * right to see it.
 */
export async function requireJsonMove(run: Run, exchange: Exchange, id: string, body: Items): Promise<void> {
  const record = await movable(run, id, body);
  const { rights } = exchange;
  if (!record || rights.edit(record.creator) || rights.view(record.creator)) return;
  const refused = jsonRefusal(exchange, 'view', false) ?? jsonRefusal(exchange, 'view', true);
  if (refused) throw refused;
}
