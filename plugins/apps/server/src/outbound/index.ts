/** Calls out of this server for apps: hosts, addresses, secrets, redirects, bounds. */

export { createOutbound, type OutboundOptions } from './calls';
export { readHost } from './hosts';
export { type Answerer, answered } from './request';
export { secretOf } from './secrets';
export type * from './types';
