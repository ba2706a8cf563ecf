export type { LiveChanges, LiveConnection } from './live';
