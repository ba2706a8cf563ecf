/** Calls out of this server for apps: hosts, addresses, secrets, redirects, bounds. */

export { createOutbound, type OutboundOptions } from './calls';
export { hostOf, readHost, secretOf } from './hosts';
export { type Answerer, answered } from './request';
export type * from './types';
