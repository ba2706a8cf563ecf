/** Functions of blocks that are called by the clock (docs/decisions/schedules.md). */
export { scheduleJobs } from './declared';
export { createSchedules } from './schedules';
export type * from './types';
