import { stringifySetCookie } from 'cookie';

interface CookieOptions {
  /** The paths to which the browser sends it; by default all. */
  path?: string;
  /** Seconds for which the browser keeps it, 0 to delete it; by default until it is closed. */
  maxAge?: number;
  /** Whether the browser sends it over https only. */
  secure: boolean;
}

/**
 * The `Set-Cookie` header of a cookie of the plugin: no script reads it, and requests of other sites do not send it.
 * @param value of the characters that a cookie may have: it is not encoded. TypeError for others
 */
export function setCookie(name: string, value: string, { path = '/', ...options }: CookieOptions): string {
  return stringifySetCookie(name, value, { path, ...options, httpOnly: true, sameSite: 'lax', encode: String });
}
