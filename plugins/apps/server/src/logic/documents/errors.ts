import { AppsError, type ErrorName, isAppsError } from '../../common/errors';

/** Strapi's errors about the arguments or rights of a call; all others are rethrown unchanged. */
const names: Record<string, ErrorName> = {
  ValidationError: 'BadRequestError',
  YupValidationError: 'BadRequestError',
  PaginationError: 'BadRequestError',
  ApplicationError: 'BadRequestError',
  NotFoundError: 'NotFoundError',
  ForbiddenError: 'ForbiddenError',
  UnauthorizedError: 'ForbiddenError',
  PolicyError: 'ForbiddenError',
};

interface StrapiError extends Error {
  details?: { key?: unknown; param?: unknown; source?: unknown; errors?: { path?: unknown[] }[] };
}

/**
 * Translates an error of Strapi to one with a safe message. A field that does not exist and one that the requester may
 * not use get the same message, which thus reveals nothing about private fields.
 * @param isPrivate whether an attribute of the content type is private
 */
export function translateError(error: unknown, isPrivate: (attribute: string) => boolean): unknown {
  if (isAppsError(error) || !(error instanceof Error)) return error;
  const name = names[error.name];
  if (name === undefined) return error;
  const { details } = error as StrapiError;
  if (typeof details?.key === 'string') {
    const location =
      typeof details.param === 'string' ? details.param : details.source === 'body' ? 'data' : 'the parameters';
    return new AppsError(name, `"${details.key}" cannot be used in ${location}.`, { cause: error });
  }
  const touched = details?.errors?.flatMap(({ path }) => path ?? []) ?? [];
  const secret = touched.some((part) => typeof part === 'string' && isPrivate(part));
  return new AppsError(name, secret ? 'The data is not valid.' : error.message, { cause: error });
}
