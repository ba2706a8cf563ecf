export type { Caller, HostFunction, Permission } from './row';
export {
  callHost,
  type HostArguments,
  type HostFunctionName,
  type HostResult,
  hostFunctions,
  type LogicHost,
} from './table';
