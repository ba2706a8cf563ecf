/** What is stored of persons in all apps: found, exported, erased, and removed when its time is over (docs/operate/privacy.md). */
export { keepJobs } from './keep';
export { createPersons, lookForPersons, type Persons } from './persons';
export { createTableStatements } from './scan';
export type * from './types';
