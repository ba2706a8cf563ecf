/** What a term can be about. */
const topics = ['Content', 'Apps', 'Web'];

/** @type {Record<string, Record<string, string>>} */
const german = { de: { Content: 'Inhalt', Apps: 'Anwendungen', Web: 'Netz' } };

/**
 * Options of the form and of the filter, in the language of the site.
 * @param {string | null} locale
 */
export const topicsIn = (locale) => topics.map((value) => ({ value, label: german[locale ?? '']?.[value] ?? value }));
