import type { Items } from '../json';
import type { AdminRouteEntry } from './permissions';

/** Routes of the options of an app in a site. */
export const optionRoutes = {
  /** OptionsChange → AppOptions; 400 for options that are no object, or too large */
  setOptions: { method: 'PUT', path: '/sites/:site/apps/:app/options', needs: 'manage' },
} as const satisfies Record<string, AdminRouteEntry>;

/** The options of an app in a site. */
export interface AppOptions {
  /** Those of its settings.yaml. */
  file: Items;
  /** Those that an administrator has set; null: none. */
  override: Items | null;
  /** Both, as the app sees them. */
  merged: Items;
}

export interface OptionsChange {
  /** Merged over the file's; null removes them. */
  options: Items | null;
}
