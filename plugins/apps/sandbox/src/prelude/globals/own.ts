import { type OwnCall, ownLimits, type UrlParts, workOf } from '../../own-calls';
import { eachSession } from '../each-session';
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
  const used = eachSession(() => ({ calls: 0, work: 0 }));
  const make = (call: OwnCall): unknown => {
    const more = workOf(call);
    const now = used();
    if (now.calls >= ownLimits.calls || now.work + more > ownLimits.work)
      throw new NativeRangeError('more addresses or random bytes than the logic of a block may make in one request');
    now.calls += 1;
    now.work += more;
    return parse(runner(stringify(call)));
  };
  return {
    url: (address, base) => make(['url', address, base]) as UrlParts | null,
    urlPart: (href, name, value) => make(['urlPart', href, name, value]) as UrlParts | null,
    random: (bytes) => make(['random', bytes]) as string,
  };
}
