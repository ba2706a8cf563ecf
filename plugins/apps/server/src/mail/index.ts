/** Mail of apps: stored with the records of a request, sent after its commit by Strapi's email plugin. */

export { createMailer } from './mailer';
export { calendarFile, createReceipts } from './receipts';
export type * from './types';
