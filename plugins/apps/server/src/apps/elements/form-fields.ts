/** The place of a form's pages in a layout. */
export const PAGES = '_pages';

/** Fields and buttons of a form with pages. */
export const pageFields = { page: '_page', seen: '_seen', next: '_next', back: '_back' } as const;
