import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Through what a record is changed (docs/reference/history.md#through-what): a form of a page, the JSON interface, the admin panel, a
 * rule on events, a job or schedule, an import, logic of an app or code of the host, a link to one's own answer.
 */
export const throughs = ['form', 'json', 'panel', 'rule', 'job', 'import', 'logic', 'self_service'] as const;

export type Through = (typeof throughs)[number];

/** Who changes records, and through what. */
export interface Provenance {
  /** `Requester.identity`: '' for anonymous. Asked where something changes: a rendering that only reads stays one for all requesters. */
  requester(): string;
  through: Through;
  /** Whether what it takes away is to be forgotten: neither the history nor a webhook gets the items from before. */
  readonly forgets?: boolean;
}

const current = new AsyncLocalStorage<Provenance>();

/** Runs `work`, whose changes of records are those of a requester. It is said once, where a request or a call begins. */
export const changedBy = <T>(by: Provenance, work: () => T): T => current.run(by, work);

/** Who changes records here; undefined in the host's own code. */
export const provenance = (): Provenance | undefined => current.getStore();

/**
 * Runs a call of logic, which comes from another process and not from the code that waits for it. What logic changes in the course of a
 * form or a request is changed through `logic`; where a rule or a job has called it, that says more.
 */
export function changedByLogic<T>(by: Provenance, work: () => T): T {
  const isCall = by.through === 'rule' || by.through === 'job';
  return current.run({ requester: by.requester, through: isCall ? by.through : 'logic' }, work);
}
