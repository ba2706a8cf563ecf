export type { Caller, HostFunction, Permission } from './row';
export {
  callHost,
  type HostArguments,
  type HostFunctionName,
  type HostResult,
  type HostValue,
  hostFunctions,
  JsonText,
  type LogicHost,
} from './table';
