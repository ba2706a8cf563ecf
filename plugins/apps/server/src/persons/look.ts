import type { AppServices } from '../apps';
import type { Masks } from '../common/log';
import type { Sites } from '../sites/types';

interface LookTools {
  sites: Pick<Sites, 'watched'>;
  /** Begins the masks where the app has an element with `person`. */
  loadApp: AppServices['loadApp'];
  masks: Pick<Masks, 'startLook' | 'endLook'>;
}

/**
 * Loads the apps that may have elements with `person`, when a server starts: a job may log the mail of an app before a request has loaded
 * it. Addresses are masked until it has ended, and stay so where it fails.
 */
export async function lookForPersons({ sites, loadApp, masks }: LookTools): Promise<void> {
  masks.startLook();
  for (const { site, appId } of await sites.watched(['person'])) await loadApp(site, appId);
  masks.endLook();
}
