import type { Json } from '../../../shared/json';
import { positioned, type SourcePosition } from '../../../shared/positions';

export type { SourcePosition } from '../../../shared/positions';

/** The one table of error names and their HTTP statuses, which docs/errors.md#names-and-statuses explains. */
export const errorStatuses = {
  BadRequestError: 400,
  UnauthorizedError: 401,
  ForbiddenError: 403,
  CsrfError: 403,
  NotFoundError: 404,
  MethodNotAllowedError: 405,
  NotAcceptableError: 406,
  ConflictError: 409,
  PreconditionFailedError: 412,
  PayloadTooLargeError: 413,
  UnsupportedMediaTypeError: 415,
  ValidationError: 422,
  RateLimitError: 429,
  LogicError: 500,
  DefinitionError: 500,
  InternalServerError: 500,
  BadGatewayError: 502,
  ServiceUnavailableError: 503,
  OutcomeUnknownError: 503,
  LogicTimeoutError: 504,
  GatewayTimeoutError: 504,
} as const;

export type ErrorName = keyof typeof errorStatuses;

export interface AppsErrorOptions {
  /** Shown to the requester as `error.details`; must be safe to show. */
  details?: { [key: string]: Json };
  /** Response headers that belong to the error (`Allow`, `Retry-After`, …). */
  headers?: Record<string, string>;
  /** Position in a theme's files; shown in debug mode or to a manager only. The message does not repeat it: `errorText`. */
  position?: SourcePosition;
  /** A further sentence for readers who may see the position; all others get the message alone. */
  reason?: string;
  /** The part of the request that failed, put before the position: `Record 3`. */
  subject?: string;
  /** Logic has caused it, not the request: where logic does not catch it, it is a LogicError (docs/decisions/logic-errors.md). */
  isOfLogic?: boolean;
  cause?: unknown;
}

/**
 * An error with a safe message: the only kind whose message reaches a client.
 * For LogicError and DefinitionError the message is shown in debug mode or to managers only (docs/errors.md#messages).
 */
export class AppsError extends Error {
  override readonly name: ErrorName;
  readonly status: number;
  readonly details: { [key: string]: Json };
  readonly headers: Record<string, string>;
  readonly position: SourcePosition | undefined;
  readonly reason: string | undefined;
  readonly subject: string | undefined;
  readonly isOfLogic: boolean;

  constructor(name: ErrorName, message: string, options: AppsErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = name;
    this.status = errorStatuses[name];
    this.details = options.details ?? {};
    this.headers = options.headers ?? {};
    this.position = options.position;
    this.reason = options.reason;
    this.subject = options.subject;
    this.isOfLogic = options.isOfLogic === true;
  }
}

/** Whether `error` is an AppsError, of the given name if one is given. */
export function isAppsError(error: unknown, name?: ErrorName): error is AppsError {
  return error instanceof AppsError && (name === undefined || error.name === name);
}

/** The value of some work, or the AppsError that it has thrown. */
export type Attempt<T> = { value: T; error: null } | { value: null; error: AppsError };

/** The value of `work`, or the AppsError that it throws; throws any other error. */
export function attempt<T>(work: () => T): Attempt<T> {
  try {
    return { value: work(), error: null };
  } catch (error) {
    return failedWith(error);
  }
}

/** The value that `work` resolves to, or the AppsError that it rejects with; rejects with any other error. */
export async function attemptAsync<T>(work: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { value: await work(), error: null };
  } catch (error) {
    return failedWith(error);
  }
}

function failedWith(error: unknown): { value: null; error: AppsError } {
  if (isAppsError(error)) return { value: null, error };
  throw error;
}

/**
 * Whether the logic, layout or definition of a block has failed: a page shows it instead of the block, and its message is
 * for debug mode and managers (docs/errors.md#messages).
 */
export function isBlockFailure(error: unknown): error is AppsError {
  return isAppsError(error, 'LogicError') || isAppsError(error, 'DefinitionError');
}

/** The error of a broken YAML file or layout, or of a file that cannot be used at all. */
export function definitionError(message: string, position?: SourcePosition, cause?: unknown): AppsError {
  return new AppsError('DefinitionError', message, { position, cause });
}

/** The error of logic that does not load, or fails. */
export function logicError(message: string, position?: SourcePosition, cause?: unknown): AppsError {
  return new AppsError('LogicError', message, { position, cause });
}

/**
 * The text of an error for readers who may see its position: `apps/rate/blocks/rate.js:3: TypeError: …`, with its reason.
 * Answers, pages, error marks and the log all use this form (docs/errors.md).
 * @param folder of the app, with a slash at its end: paths of positions are relative to it
 */
export function errorText({ message, position, reason, subject }: ErrorParts, folder = ''): string {
  const text = positioned(reason === undefined ? message : `${message}. ${reason}`, position, folder);
  return subject === undefined ? text : `${subject}: ${text}`;
}

/** The messages of a ValidationError about single fields, as lines: `guests.0.name: Please fill in this field.` */
export function fieldLines({ details }: { details?: unknown }): string[] {
  const { errors } = (details ?? {}) as { errors?: { path: string[]; message: string }[] };
  return (errors ?? []).map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
}

type ErrorParts = Pick<AppsError, 'message' | 'subject'> & Partial<Pick<AppsError, 'position' | 'reason'>>;

/** Messages about what does not exist; a hint may follow. */
export const missing = {
  site: (id: string) => `There is no site "${id}"`,
  app: (id: string, site?: string) =>
    `There is no app "${id}" in ${site === undefined ? 'this site' : `the site "${site}"`}`,
  block: (id: string, app: string) => `There is no block "${id}" in the app "${app}"`,
  record: (id: string, app: string) => `There is no record "${id}" in the app "${app}"`,
};

export function notFound(message: string, details?: AppsErrorOptions['details']): AppsError {
  return new AppsError('NotFoundError', message, { ...(details && { details }) });
}

/** @param allow the methods that the address takes, for the header `Allow` */
export function methodNotAllowed(allow: string, message = 'This address can only be read'): AppsError {
  return new AppsError('MethodNotAllowedError', message, { headers: { Allow: allow } });
}

/** The error of a body of more than `maxSize` bytes. */
export function bodyTooLarge(maxSize: number): AppsError {
  return new AppsError('PayloadTooLargeError', `The body is larger than ${maxSize} bytes`);
}

/** The 503 of a temporary condition. @param seconds for the header `Retry-After` */
export function unavailable(
  message: string,
  seconds: number,
  options: Omit<AppsErrorOptions, 'headers'> = {},
): AppsError {
  return new AppsError('ServiceUnavailableError', message, { ...options, headers: { 'Retry-After': String(seconds) } });
}
