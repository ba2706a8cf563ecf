import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto';
import { extractParams, verifySolution } from 'altcha-lib';
import type { Keyring } from '../credentials/keyring';

/** A task for the browser, in ALTCHA's form: find the number whose hash, with the salt, is the challenge. */
export interface ProofChallenge {
  algorithm: 'SHA-256';
  challenge: string;
  maxnumber: number;
  salt: string;
  signature: string;
}

/** Proofs of work for forms (docs/reference/rights.md#proof-of-work). */
export interface Proofs {
  /** A new task. @param form names of the site, app and block */
  challenge(form: readonly string[]): ProofChallenge;
  /** The challenge that a proof solves, and when it ends; null unless it is one for this form, and still valid. */
  check(form: readonly string[], proof: string): Promise<{ challenge: string; endsAt: number } | null>;
}

/** Hashes that a browser tries at most, half of them on average: about half a second of its time. */
const MAX_NUMBER = 50_000;

/** Milliseconds for which a task is valid. */
const MAX_AGE = 60 * 60_000;

/** Characters of a proof, which is base64 of JSON. */
const MAX_PROOF = 2_000;

export function createProofs({ keyring, now }: { keyring: Keyring; now: () => number }): Proofs {
  const secret = keyring.sign(['proof-of-work']);
  const markOf = (form: readonly string[]) => keyring.sign(['proof', ...form]).slice(0, 22);

  return {
    challenge(form) {
      const expires = Math.floor((now() + MAX_AGE) / 1000);
      // The `&` at the end keeps the number apart from the parameters.
      const salt = `${randomBytes(12).toString('hex')}?expires=${expires}&form=${markOf(form)}&`;
      const challenge = createHash('sha256')
        .update(salt + randomInt(MAX_NUMBER))
        .digest('hex');
      const signature = createHmac('sha256', secret).update(challenge).digest('hex');
      return { algorithm: 'SHA-256', challenge, maxnumber: MAX_NUMBER, salt, signature };
    },
    async check(form, proof) {
      if (proof.length > MAX_PROOF) return null;
      try {
        if (!(await verifySolution(proof, secret))) return null;
        const { form: mark, expires } = extractParams(proof);
        const { challenge } = JSON.parse(atob(proof)) as { challenge: string };
        return mark === markOf(form) ? { challenge, endsAt: Number(expires) * 1000 } : null;
      } catch {
        // Not made by the script.
        return null;
      }
    },
  };
}
