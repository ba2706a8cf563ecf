import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { conditionOf, type LiveCondition, type Topic } from '../../apps';

/** Characters of the token of a topic that is no condition, and the most that one of a condition has. */
export const SHORT_TOKEN = 20;
export const MAX_TOKEN = 2_000;

/** Tokens of topics that are remembered: each change of an app is published to the same few. */
const MAX_KNOWN = 1_000;

const IV = 12;
const TAG = 16;

/** Makes and reads the names by which browsers subscribe to topics. */
export interface TopicTokens {
  /** The same token for the same topic, in every process with the same secret. */
  of(topic: Topic): string;
  /** The condition that a token carries; null for every other text, also for one of another secret. */
  condition(token: string): LiveCondition | null;
}

/**
 * A condition is in its token, encrypted and authenticated: each process can evaluate it, and no client can read or make one. The
 * nonce is a keyed digest of the condition, so that equal conditions have equal tokens, and no nonce comes with two texts.
 */
export function createTokens(secret: string): TopicTokens {
  const keys = Buffer.from(hkdfSync('sha256', secret, '', 'apps-live-conditions-1', 64));
  const [sealing, naming] = [keys.subarray(0, 32), keys.subarray(32)];

  const seal = (text: string): string => {
    const iv = createHmac('sha256', naming).update(text).digest().subarray(0, IV);
    const cipher = createCipheriv('aes-256-gcm', sealing, iv);
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
  };

  const open = (token: string): string | null => {
    const bytes = Buffer.from(token, 'base64url');
    if (token.length > MAX_TOKEN || bytes.length <= IV + TAG) return null;
    try {
      const cipher = createDecipheriv('aes-256-gcm', sealing, bytes.subarray(0, IV), { authTagLength: TAG });
      cipher.setAuthTag(bytes.subarray(IV, IV + TAG));
      return Buffer.concat([cipher.update(bytes.subarray(IV + TAG)), cipher.final()]).toString('utf8');
    } catch {
      return null;
    }
  };

  const known = new LRUCache<Topic, string>({ max: MAX_KNOWN });

  return {
    of(topic) {
      if (conditionOf(topic)) return seal(topic);
      const before = known.get(topic);
      if (before !== undefined) return before;
      const digest = createHmac('sha256', `apps-live:${secret}`).update(topic).digest('base64url');
      const token = digest.slice(0, SHORT_TOKEN);
      known.set(topic, token);
      return token;
    },
    condition(token) {
      const text = open(token);
      return text === null ? null : conditionOf(text);
    },
  };
}
