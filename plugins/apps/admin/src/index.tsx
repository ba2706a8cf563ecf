import { PuzzlePiece } from '@strapi/icons';
import type { StrapiApp } from '@strapi/strapi/admin';
import type { ComponentType } from 'react';
import { pluginId } from './plugin';
import en from './translations/en.json';

const translations: Record<string, Record<string, string>> = { en };

const managePermission = { action: 'plugin::apps.manage', subject: null };

export default {
  register(app: StrapiApp) {
    app.registerPlugin({ id: pluginId, name: 'Apps' });
    app.addMenuLink({
      to: `plugins/${pluginId}`,
      icon: PuzzlePiece,
      intlLabel: { id: 'apps.title', defaultMessage: en.title },
      permissions: [managePermission],
      Component: () => import('./pages/Pages').then(({ Pages }) => ({ default: Pages })),
    });
    app.customFields.register({
      name: 'block',
      pluginId,
      type: 'string',
      icon: PuzzlePiece,
      intlLabel: { id: 'apps.field.label', defaultMessage: en['field.label'] },
      intlDescription: { id: 'apps.field.description', defaultMessage: en['field.description'] },
      components: {
        // Strapi's type declares no props, though Strapi passes those of a field.
        Input: async () => ({
          default: (await import('./components/BlockInput')).BlockInput as unknown as ComponentType,
        }),
      },
    });
  },

  /** The panel's texts in one of its languages; those not translated stay in English. */
  async registerTrads({ locales }: { locales: string[] }) {
    return locales.map((locale) => ({
      locale,
      data: Object.fromEntries(
        Object.entries(translations[locale] ?? {}).map(([key, text]) => [`${pluginId}.${key}`, text]),
      ),
    }));
  },
};
