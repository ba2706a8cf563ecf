/** The element of this script; the server puts the words of its site's language on it. */
export const script = document.currentScript as (HTMLScriptElement & { appsWords?: Record<string, string> }) | null;

/** Address of this script: blocks are loaded from its origin, and tokens are sent to it, and to no other. */
const address = new URL(script?.src || document.baseURI, document.baseURI);

export const isOwnOrigin = (url: URL): boolean => url.origin === address.origin;

/** An address beside the script's, such as `@@apps.live`. */
export const siblingUrl = (name: string): URL => new URL(name, address);

/** Texts for visitors; a page may put its own words on the script's tag: `<script src="…/@@apps.js" data-failed="…">`. */
export const words = {
  updated: 'Updated',
  failed: 'This part could not be loaded',
  invalid: 'Please check the form',
  sending: 'Sending files',
  close: 'Close',
  ...script?.appsWords,
  ...script?.dataset,
};
