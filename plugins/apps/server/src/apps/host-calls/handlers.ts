import type { HostArguments, HostFunctionName, HostResult } from '../../logic/types';
import type { Target } from './host-target';

/** The handlers of host functions, by name; they are called after the check of permissions. */
export type Handlers = {
  [Name in HostFunctionName]: (
    args: HostArguments<Name>,
    target: Target,
  ) => Promise<HostResult<Name>> | HostResult<Name>;
};
