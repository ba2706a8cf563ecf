import type { Context } from 'liquidjs';
import { plainText } from './html';
import { renderingOf } from './tags';

/** `this` of Liquid's filters. */
export interface FilterThis {
  context: Context;
}

/** Named arguments of a filter: `{{ 'key' | t: count: 3 }}`. */
type Named = [name: string, value: unknown];

const english = { tag: 'en', timeZone: null, translate: () => null };

/** The language, zone and messages of the page that a filter renders; English where a rendering has none. */
export const localeOf = ({ context }: FilterThis) => renderingOf(context)?.data.locale ?? english;

/** Named arguments as an object. Error for one without a name. */
export function named(args: readonly unknown[]): { [name: string]: unknown } {
  return Object.fromEntries(
    args.map((one) => {
      if (Array.isArray(one)) return one as Named;
      throw new Error(`This filter takes named arguments such as "count: 3", not "${plainText(one)}"`);
    }),
  );
}
