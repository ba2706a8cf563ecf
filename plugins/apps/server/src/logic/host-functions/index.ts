export { callHost, type HostFunction, type HostRun, hostFunctions } from './table';
