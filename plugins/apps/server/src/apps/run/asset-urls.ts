import type { OwnFile } from '../../common/own-files';
import type { Site } from '../../sites/types';
import { scriptWords } from '../locales';
import { siteLocale } from './site-locale';
import type { AppServices } from './types';

type Services = Pick<AppServices, 'sites' | 'ownFiles'>;

/** The query of an address whose answer may be cached for ever, because it names the content (docs/reference/http.md#caching). */
const versioned = (url: string, version: string | null): string => (version === null ? url : `${url}?v=${version}`);

/** The browser script in the words of a site. */
export async function browserScript(services: Services, site: Site): Promise<OwnFile> {
  return services.ownFiles.script(scriptWords(await siteLocale(services, site)));
}

/** Makes the plugin's own files that pages name by the filter `asset_url`. */
const ownFiles: { [name: string]: (services: Services, site: Site) => Promise<OwnFile> } = {
  '@@apps.js': browserScript,
  '@@apps.css': ({ ownFiles }) => ownFiles.file('apps.css'),
};

/** The address of the browser script with its version; without one while the file is missing. */
export const scriptUrl = (services: Services, site: Site): Promise<string> => ownUrl(services, site, '@@apps.js');

async function ownUrl(services: Services, site: Site, name: string): Promise<string> {
  const file = await ownFiles[name]?.(services, site).catch(() => null);
  return versioned(`${site.url}/${name}`, file?.version ?? null);
}

/**
 * Liquid's filter `asset_url` in files of a theme, or of an app in it: the address of a public file with the version of its
 * content, without one where there is no such file.
 */
export function assetUrls(services: Services, site: Site, from: { theme: string; app?: string }) {
  return async (path: string): Promise<string> => {
    if (path.startsWith('@@')) return ownUrl(services, site, path);
    const asset = { ...from, path };
    return versioned(services.sites.urls.asset(site, asset), await services.sites.assetVersion(asset));
  };
}
