import { rightsOf } from '../../../auth';
import type { Acl, Requester, Rights } from '../../../auth/types';
import type { Visit } from '../types';
import type { Inputs } from './inputs';
import { noteOriginal, originalOf } from './originals';

/** The requester; looking at one of `parts` says that a result is theirs alone. */
export function observedRequester(
  requester: Requester,
  parts: readonly (keyof Requester)[],
  inputs: Inputs,
): Requester {
  const observed = Object.create(requester) as Requester;
  for (const part of parts)
    Object.defineProperty(observed, part, {
      get() {
        inputs.readRequester();
        return requester[part];
      },
    });
  return noteOriginal(observed, requester);
}

/**
 * The rights of a visit's requester in the app whose block it asks for. What its `acl` grants decides who shares a result, so that only
 * a right to own records tells one requester from another.
 */
export function rightsIn({ requester, inputs, isForApp }: Visit, acl: Acl | null): Rights {
  const original = originalOf(requester);
  if (isForApp) return rightsOf({ ...original, isManager: true }, acl);
  return rightsOf(inputs ? observedRequester(original, ['identity'], inputs) : original, acl);
}
