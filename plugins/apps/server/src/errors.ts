import type { Json } from '../../shared/json';

/** The one table of error names and their HTTP statuses (contract, section 4). Each is explained in docs/errors.md. */
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
  ServiceUnavailableError: 503,
  LogicTimeoutError: 504,
} as const;

export type ErrorName = keyof typeof errorStatuses;

/** A place in a theme's file; `file` is relative to the app's folder, lines and columns count from 1. */
export interface SourcePosition {
  file: string;
  line?: number;
  column?: number;
}

export interface AppsErrorOptions {
  /** Shown to the requester as `error.details`; must be safe to show. */
  details?: { [key: string]: Json };
  /** Response headers that belong to the error (`Allow`, `Retry-After`, …). */
  headers?: Record<string, string>;
  /** Where in a theme's files; shown in debug mode or to a manager only. */
  position?: SourcePosition;
  /** A further sentence for those only, beside the message for everybody. */
  reason?: string;
  cause?: unknown;
}

/**
 * An error with a safe message: the only kind whose message reaches a client.
 * For LogicError and DefinitionError the message is shown in debug mode or to managers only (contract, section 4).
 */
export class AppsError extends Error {
  override readonly name: ErrorName;
  readonly status: number;
  readonly details: { [key: string]: Json };
  readonly headers: Record<string, string>;
  readonly position: SourcePosition | undefined;
  readonly reason: string | undefined;

  constructor(name: ErrorName, message: string, options: AppsErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = name;
    this.status = errorStatuses[name];
    this.details = options.details ?? {};
    this.headers = options.headers ?? {};
    this.position = options.position;
    this.reason = options.reason;
  }
}

/** Whether `error` is an AppsError, of the given name if one is given. */
export function isAppsError(error: unknown, name?: ErrorName): error is AppsError {
  return error instanceof AppsError && (name === undefined || error.name === name);
}
