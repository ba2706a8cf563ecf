import { asciiAddress } from '../../common/text';
import type { Counters } from './counters';
import type { Keyring } from './keyring';
import { addressGroup } from './rate-limit';

/** How many mails with links may be asked for in an hour. */
export interface LinkMailLimits {
  /** To one address. */
  perAddress: number;
  /** From one network. */
  perNetwork: number;
}

/** Limits mails with links to addresses that visitors enter: anybody can enter any address (docs/limits.md#mail). */
export interface LinkMails {
  /** Counts one mail; false, counting nothing, where the address or the network has got as many as it may. @param ip as Koa gives it */
  take(ip: string, to: string, limits: LinkMailLimits): Promise<boolean>;
}

const HOUR = 60 * 60_000;

/** All server processes share the counts. Addresses are stored as keyed hashes only. */
export function createLinkMails({
  counters,
  keyring,
  now,
}: {
  counters: Counters;
  keyring: Pick<Keyring, 'sign'>;
  now: () => number;
}): LinkMails {
  return {
    async take(ip, to, { perAddress, perNetwork }) {
      const hour = Math.floor(now() / HOUR);
      const endsAt = (hour + 1) * HOUR;
      const network = keyring.sign(['link-mail', 'network', addressGroup(ip), hour]);
      const address = keyring.sign(['link-mail', 'address', asciiAddress(to).toLowerCase(), hour]);
      if (perNetwork === 0 || (await counters.add(network, endsAt, perNetwork)) === 'full') return false;
      if (perAddress > 0 && (await counters.add(address, endsAt, perAddress)) !== 'full') return true;
      await counters.takeBack([network]);
      return false;
    },
  };
}
