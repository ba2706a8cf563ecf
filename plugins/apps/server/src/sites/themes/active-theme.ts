import type { SiteConfig } from '../../config.types';
import type { Choices } from './choices';

const keyOf = (siteId: string) => `theme:${siteId}`;

/** The active theme of each site: the one chosen in the admin panel, else that of the configuration. */
export function createActiveThemes(choices: Choices) {
  return {
    get: async ({ id, theme }: SiteConfig): Promise<string> => (await choices.get(keyOf(id))) ?? theme,
    set: (siteId: string, theme: string): Promise<void> => choices.set(keyOf(siteId), theme),
  };
}
