/** Webhooks of apps: what happens to records is sent to other servers. */
export { webhookJobs } from './deliver';
export { createIsAbout } from './deliveries';
export { createHostHub } from './host-hub';
export { watchRecords } from './watch-records';
