export type { HostFunction, HostRun } from './row';
export { callHost, hostFunctions } from './table';
