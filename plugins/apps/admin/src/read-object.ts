import type { Items } from '../../shared/json';

/** The object that a text is as JSON; undefined for anything else. */
export function readObject(text: string): Items | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Items) : undefined;
  } catch {
    return undefined;
  }
}
