import { Drop } from 'liquidjs';

/**
 * Characters and entries of a value as text, whatever is inside it counted as often as it occurs; counting stops above
 * `most`. Liquid's lists may hold the same list many times.
 */
export function sizeOf(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length;
  const waiting: unknown[] = [value];
  let size = 0;
  while (waiting.length > 0 && size <= most) {
    const next = waiting.pop();
    size += 1;
    if (typeof next === 'string') size += next.length;
    else if (next instanceof Drop) size += String(next.valueOf()).length;
    else if (Array.isArray(next)) size = addAll(waiting, next, size, most);
    else if (isPlain(next)) size = addAll(waiting, Object.values(next), size, most);
  }
  return size;
}

function addAll(waiting: unknown[], values: readonly unknown[], size: number, most: number): number {
  if (values.length > most) return most + values.length;
  for (const value of values) {
    if (typeof value === 'object' && value !== null) waiting.push(value);
    else size += typeof value === 'string' ? value.length + 1 : 1;
  }
  return size;
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
