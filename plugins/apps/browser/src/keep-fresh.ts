import { reload } from './ajax';
import { script, siblingUrl } from './home';
import { settingsOf } from './settings';

/** Replaced by the build with the version of the second script: browsers keep its address for ever. */
declare const LIVE_VERSION: string;

/** What the second script (live/index.ts) gets from this one. */
export interface FromMain {
  /** Blocks that refresh themselves; the second script replaces the list. */
  blocks: { push(block: HTMLFormElement): void };
  reload: typeof reload;
}

let own: FromMain | undefined;

/** Refreshes a block as its definition says, by the second script: only pages with such a block load it. */
export function keepFresh(block: HTMLFormElement): void {
  if (!settingsOf(block).refresh) return;
  if (!own) {
    own = { blocks: [], reload };
    const url = siblingUrl('@@apps.live.js');
    url.search = `v=${LIVE_VERSION}`;
    const element = Object.assign(document.createElement('script'), { src: url.href, appsMain: own });
    if (script?.nonce) element.nonce = script.nonce;
    document.head.append(element);
  }
  own.blocks.push(block);
}
