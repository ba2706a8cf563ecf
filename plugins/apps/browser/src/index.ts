/**
 * The visitor's script (docs/reference/embedding.md#the-browser-script): blocks in place instead of page by page,
 * dialogs, loaders, live blocks. Everything works without it, as plain forms and links.
 */
import { onLink, onPageShow, onSearchKey, onSubmit, reload, showAgain } from './ajax';
import { keepConditions } from './conditions';
import { keepEntered, watchHistory } from './history';
import { keepFresh } from './keep-fresh';
import { onOpen, setUpLoaders } from './load';
import { onBlock, setUpBlocks } from './place';
import { onFocus } from './proof';
import { showLogs } from './settings';

function start(): void {
  onBlock(keepFresh);
  onBlock(keepConditions);
  document.addEventListener('submit', onSubmit);
  addEventListener('pageshow', onPageShow);
  document.addEventListener('focusin', onFocus);
  document.addEventListener('keydown', onSearchKey);
  document.addEventListener('click', onLink);
  document.addEventListener('click', onOpen);
  watchHistory(reload);
  discover(document);
  keepEntered(showAgain);
  // Pages made in the browser get their blocks and loaders later.
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) for (const node of addedNodes) if (node instanceof Element) discover(node);
  }).observe(document.documentElement, { childList: true, subtree: true });
}

function discover(root: ParentNode): void {
  setUpBlocks(root);
  showLogs(root);
  setUpLoaders(root);
}

// A page that includes the script twice runs it once.
const page = window as { appsStarted?: boolean };
if (!page.appsStarted) {
  page.appsStarted = true;
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
  else start();
}
