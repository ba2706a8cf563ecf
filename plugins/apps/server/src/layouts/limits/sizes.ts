import { Drop } from 'liquidjs';

/**
 * Characters and entries of a value as text, each nested value counted as often as it occurs, because Liquid's lists may
 * hold the same list many times. Counting stops above `maxSize`.
 */
export function sizeOf(value: unknown, maxSize: number): number {
  if (typeof value === 'string') return value.length;
  const waiting: unknown[] = [value];
  let size = 0;
  while (waiting.length > 0 && size <= maxSize) {
    const next = waiting.pop();
    size += 1;
    if (typeof next === 'string') size += next.length;
    else if (next instanceof Drop) size += String(next.valueOf()).length;
    else if (Array.isArray(next)) size = addAll(waiting, next, size, maxSize);
    else if (isPlain(next)) size = addAll(waiting, Object.values(next), size, maxSize);
  }
  return size;
}

function addAll(waiting: unknown[], values: readonly unknown[], size: number, maxSize: number): number {
  if (values.length > maxSize) return maxSize + values.length;
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
