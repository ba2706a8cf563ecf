import { loadApp } from '../../apps';
import type { Logger } from '../../common/log';
import { withFiles } from '../../sites';
import type { HttpServices, Overlay } from './exchange';

/** Characters of the texts of one overlay, together, and texts. */
export const overlayLimits = { files: 50, characters: 2_000_000 };

/** What is half written is no news for the server's log; the panel shows it. */
const silent: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };

/**
 * The services of one request that sees other texts of files of an app, or another theme of a site, than those that are stored
 * and active. Nothing is written, and nothing of it is kept for other requests.
 */
export function overlaid(services: HttpServices, { files, theme }: Overlay): HttpServices {
  const { sites } = services;
  const site: HttpServices['sites']['site'] = async (id) => {
    const found = await sites.site(id);
    return found && theme?.site === id ? { ...found, theme: theme.id } : found;
  };
  return {
    ...services,
    config: { ...services.config, exactCache: false },
    ...(files && { logger: silent }),
    sites: { ...sites, site },
    async loadApp(site, appId) {
      if (files?.site !== site.id || files.app !== appId || files.texts.size === 0)
        return services.loadApp(site, appId);
      const folder = await sites.app(site, appId);
      return folder && loadApp(withFiles(folder, files.texts));
    },
  };
}
