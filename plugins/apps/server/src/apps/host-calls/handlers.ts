import type { HostArguments, HostFunctionName, HostValue } from '../../logic/types';
import type { Target } from './host-target';

/** The handlers of host functions, by name; they are called after the check of permissions. */
export type HostCallHandlers = {
  [Name in HostFunctionName]: (args: HostArguments<Name>, target: Target) => Promise<HostValue<Name>> | HostValue<Name>;
};
