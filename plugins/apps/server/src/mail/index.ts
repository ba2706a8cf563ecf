/** Mail of apps: stored with the records of a request, sent after its commit by Strapi's email plugin. */
export { calendarFile } from './calendar';
export { createMailer } from './mailer';
export { createReceipts } from './receipts';
export type * from './types';
