import type { Core } from '@strapi/strapi';
import type { RecordEvent } from '../../apps/types';
import type { AppKey, Items } from '../../records/types';
import type { Sites } from '../../sites/types';
import type { RecordChange } from './changes';

/** Strapi's events, which its own webhooks and the host's code can wait for. */
export interface HostHub {
  /** Whether a webhook of Strapi waits for an event; other code may wait too. */
  isHeard(event: RecordEvent): boolean;
  /** Tells Strapi of changes, after their commit. */
  emit(key: AppKey, changes: readonly RecordChange[]): void;
}

/** What is said about a change, to Strapi's webhooks and to those of apps. */
export interface ChangeData {
  site: string;
  app: string;
  block: string | null;
  id: string;
  /** The record's address; of a deleted one, the address that it had. */
  path: string;
  items: Items;
}

/** The name of an event, `apps.record.create` and so on. */
export const eventName = (event: RecordEvent): string => `apps.record.${event}`;

/** The data of a change; null where the site is gone. */
export async function changeData(
  sites: Pick<Sites, 'site' | 'urls'>,
  key: AppKey,
  { id, items }: Pick<RecordChange, 'id' | 'items'>,
): Promise<ChangeData | null> {
  const site = await sites.site(key.site);
  if (!site) return null;
  const block = typeof items.block === 'string' ? items.block : null;
  return { ...key, block, id, path: sites.urls.record(site, key.app, id), items: { ...items, id } };
}

/** The parts of Strapi that its webhooks are made of. */
interface HostWebhooks {
  addAllowedEvent(key: string, event: string): void;
}

/** Strapi's hub of events, with the events of records among those that its webhooks may name. */
export function createHostHub(
  strapi: Core.Strapi,
  sites: Pick<Sites, 'site' | 'urls'>,
  report: (error: unknown) => void,
): HostHub {
  const store = strapi.get('webhookStore') as HostWebhooks;
  for (const event of ['create', 'update', 'delete'] as const)
    store.addAllowedEvent(`APPS_RECORD_${event.toUpperCase()}`, eventName(event));

  const tell = async (key: AppKey, changes: readonly RecordChange[]): Promise<void> => {
    for (const change of changes) {
      const data = await changeData(sites, key, change);
      if (data) await strapi.eventHub.emit(eventName(change.event), data);
    }
  };

  return {
    isHeard(event) {
      const { webhooksMap } = strapi.get('webhookRunner') as { webhooksMap?: Map<string, unknown> };
      return webhooksMap?.has(eventName(event)) === true;
    },
    // The request does not wait for those that listen.
    emit: (key, changes) => void tell(key, changes).catch(report),
  };
}
