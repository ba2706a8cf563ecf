/**
 * The visitor's script (contract, section 11): blocks in place instead of page by page, dialogs, loaders, live blocks.
 * Everything works without it, as plain forms and links.
 */
import { onLink, onSubmit } from './ajax';
import { keepFresh } from './live';
import { onOpen, setUpLoaders } from './load';
import { onBlock, welcome } from './place';
import { showLogs } from './settings';

function start(): void {
  onBlock(keepFresh);
  document.addEventListener('submit', onSubmit);
  document.addEventListener('click', onLink);
  document.addEventListener('click', onOpen);
  discover(document);
  // Pages made in the browser get their blocks and loaders later.
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) for (const node of addedNodes) if (node instanceof Element) discover(node);
  }).observe(document.documentElement, { childList: true, subtree: true });
}

function discover(root: ParentNode): void {
  welcome(root);
  showLogs(root);
  setUpLoaders(root);
}

// A page that has the script twice has it once.
const page = window as { appsStarted?: boolean };
if (!page.appsStarted) {
  page.appsStarted = true;
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
  else start();
}
