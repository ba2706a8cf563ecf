import { mysql } from './mysql';
import { postgres } from './postgres';
import { sqlite } from './sqlite';
import type { Client, Dialect } from './types';

export { pendingTable } from './sqlite';
export type { Client, Dialect, Row } from './types';
export { isBusy, isUnavailable } from './unavailable';

/** One row per database; the dialect suite runs against each. */
export const dialects: Record<Client, Dialect> = { sqlite, postgres, mysql };
