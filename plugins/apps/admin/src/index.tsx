import { PuzzlePiece } from '@strapi/icons';
import type { StrapiApp } from '@strapi/strapi/admin';
import type { ComponentType } from 'react';
import { seePermissions } from './permissions';
import { message, pluginId } from './plugin';
import { translations } from './translations';

export default {
  register(app: StrapiApp) {
    app.registerPlugin({ id: pluginId, name: 'Apps' });
    app.addMenuLink({
      to: `plugins/${pluginId}`,
      icon: PuzzlePiece,
      intlLabel: message('title'),
      permissions: seePermissions,
      Component: () => import('./pages/Pages'),
    });
    app.customFields.register({
      name: 'block',
      pluginId,
      type: 'string',
      icon: PuzzlePiece,
      intlLabel: message('field.label'),
      intlDescription: message('field.description'),
      components: {
        // Strapi's type declares no props, though Strapi passes those of a field.
        Input: async () => ({
          default: (await import('./components/fields')).BlockInput as unknown as ComponentType,
        }),
      },
    });
  },

  /** The panel's texts in its languages; those of a language that is not translated stay in English. */
  registerTrads: ({ locales }: { locales: string[] }) =>
    Promise.all(
      locales.map(async (locale) => {
        const texts = await translations[locale]?.();
        const entries = Object.entries(texts?.default ?? {});
        return { locale, data: Object.fromEntries(entries.map(([key, text]) => [`${pluginId}.${key}`, text])) };
      }),
    ),
};
