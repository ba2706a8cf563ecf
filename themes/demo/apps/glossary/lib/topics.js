/** What a term can be about: options of the form and of the filter. */
export const topics = ['Content', 'Apps', 'Web'];
