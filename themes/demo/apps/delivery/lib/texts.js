const english = {
  unknown: 'There is no such postal code.',
  later: 'Thank you. We will write to you when we come.',
  /** @param {string} town */
  coming: (town) => `Thank you. We come to ${town} on Friday.`,
};

/** @type {typeof english} */
const german = {
  unknown: 'Diese Postleitzahl gibt es nicht.',
  later: 'Vielen Dank. Wir schreiben Ihnen, wann wir kommen.',
  coming: (town) => `Vielen Dank. Wir kommen am Freitag nach ${town}.`,
};

/**
 * The texts that logic makes, in the language of the site.
 * @param {string | null} locale
 */
export const textsOf = (locale) => (locale === 'de' ? german : english);
