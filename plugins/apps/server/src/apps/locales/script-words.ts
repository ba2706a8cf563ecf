import type { PageLocale } from './locale';
import { inEnglish } from './message';
import type { ServiceMessage } from './messages';

/** Texts of the browser script, by their names in it, and the messages that they are. */
const scriptTexts = {
  updated: 'script_updated',
  failed: 'script_failed',
  invalid: 'script_invalid',
  sending: 'script_sending',
  close: 'script_close',
} as const satisfies Record<string, ServiceMessage>;

/** The words of the browser script that differ from those in it. */
export function scriptWords({ say }: PageLocale): { [name: string]: string } {
  const all = Object.entries(scriptTexts).map(([name, key]) => ({ name, said: say(key), known: inEnglish({ key }) }));
  return Object.fromEntries(all.filter(({ said, known }) => said !== known).map(({ name, said }) => [name, said]));
}
