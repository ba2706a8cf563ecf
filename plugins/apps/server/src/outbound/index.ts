/** Calls out of this server for apps: hosts, addresses, secrets, redirects, bounds. */
export { type Answerer, answered } from './answered';
export { createOutbound, type OutboundOptions } from './calls';
export { readHost } from './hosts';
export { secretOf } from './secrets';
export type * from './types';
