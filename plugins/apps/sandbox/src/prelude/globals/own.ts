import { type OwnCall, ownLimits, type UrlParts, workOf } from '../../own-calls';
import { NativeRangeError, parse, stringify } from '../primordials';

/** Sends JSON text of an own call to the runner, and gives the JSON text of its answer. */
export type CallRunner = (call: string) => string;

export interface OwnCalls {
  /** Parts of an address; null if it is none. */
  url(address: string, base: string | null): UrlParts | null;
  urlPart(href: string, name: string, value: string): UrlParts | null;
  /** As many random bytes of the system, base64. */
  random(bytes: number): string;
}

/** The calls that the runner answers. RangeError over the limits of a session. */
export function createOwnCalls(runner: CallRunner): OwnCalls {
  let [calls, work] = [0, 0];
  const make = (call: OwnCall): unknown => {
    const more = workOf(call);
    if (calls >= ownLimits.calls || work + more > ownLimits.work)
      throw new NativeRangeError('more addresses or random bytes than the logic of a block may make in one request');
    calls += 1;
    work += more;
    return parse(runner(stringify(call)));
  };
  return {
    url: (address, base) => make(['url', address, base]) as UrlParts | null,
    urlPart: (href, name, value) => make(['urlPart', href, name, value]) as UrlParts | null,
    random: (bytes) => make(['random', bytes]) as string,
  };
}
