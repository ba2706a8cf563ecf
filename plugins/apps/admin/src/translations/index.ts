type Texts = { default: Record<string, string> };

/** The panel's texts by language: one file each, all with the same keys; each is a chunk of its own. */
export const translations: Record<string, () => Promise<Texts>> = {
  en: () => import('./en.json'),
  fr: () => import('./fr.json'),
  de: () => import('./de.json'),
  es: () => import('./es.json'),
};
