import type { Core, Struct } from '@strapi/strapi';
import type { SettingStore } from './active-theme';
import type { ContentTypeInfo } from './content';

/** The plugin's own settings in Strapi's store. */
export function settingStoreOf(strapi: Core.Strapi): SettingStore {
  const store = strapi.store({ type: 'plugin', name: 'apps' });
  return {
    get: (key) => store.get({ key }),
    set: (key, value) => store.set({ key, value }),
  };
}

/** The host's own content types: those that Strapi gives a content API. */
export function contentTypesOf(strapi: Core.Strapi): ContentTypeInfo[] {
  return Object.values(strapi.contentTypes)
    .filter(({ uid }) => uid.startsWith('api::'))
    .map((type) => {
      const { uid, kind, info, attributes } = type as Struct.ContentTypeSchema;
      const { singularName, pluralName } = info;
      return { uid, kind, singularName, pluralName, attributes: attributes as ContentTypeInfo['attributes'] };
    });
}
