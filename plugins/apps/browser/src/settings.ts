interface LogEntry {
  app: string;
  block: string | null;
  line: number | null;
  message: string;
  level?: 'debug' | 'warn' | 'error';
}

/** The settings that a block's form has for this script (docs/reference/layouts.md#the-form-around-a-block). */
export interface Settings {
  app?: string;
  block?: string;
  /** Seconds, or `on-change`. */
  refresh?: number | 'on-change';
  /** With `on-change`: tokens of the topics to wait for; fewer and shorter ones, of which one changes with each of them. */
  live?: string[];
  any?: string[];
  /** A moment before the block's rendering. */
  since?: string;
  /** Debug messages of this visitor's requests. */
  log?: LogEntry[];
}

export const BLOCK = 'form[data-apps-settings]';

const LOG = '[data-apps-log]';

/** The elements in a part of the page that a selector finds, itself included. */
export function elementsIn<E extends HTMLElement>(root: ParentNode, selector: string): E[] {
  const own = root instanceof HTMLElement && root.matches(selector) ? [root as E] : [];
  return [...own, ...root.querySelectorAll<E>(selector)];
}

export const blocksIn = (root: ParentNode): HTMLFormElement[] => elementsIn(root, BLOCK);

/** The address in the first of some attributes that has one; the page's without any. */
export const addressIn = (...attributes: (string | null | undefined)[]): URL =>
  new URL(attributes.find(Boolean) ?? '', document.baseURI);

/** The address of what a block shows: its form's, with the query of its rendering. */
export function shownAt(block: HTMLElement): URL {
  const url = addressIn(block.getAttribute('action'));
  if (block.dataset.appsQuery) url.search = block.dataset.appsQuery;
  return url;
}

export function settingsOf(block: HTMLElement): Settings {
  try {
    return JSON.parse(block.dataset.appsSettings ?? '') ?? {};
  } catch {
    return {};
  }
}

/** Writes the log entries beside the blocks of a part of the page to the console, such as those of failed blocks. */
export function showLogs(root: ParentNode): void {
  for (const { dataset } of elementsIn(root, LOG)) {
    const text = dataset.appsLog ?? '';
    delete dataset.appsLog;
    try {
      showLog({ log: JSON.parse(text) });
    } catch {
      // Not made by the server.
    }
  }
}

/** Shows in the browser's console what the logic of a debugged app has logged for this visitor. */
export function showLog({ log = [] }: Settings): void {
  for (const { app, block, line, message, level } of log) {
    console[level ?? 'log'](`[${block ? `${app}/${block}` : app}${line === null ? '' : `:${line}`}] ${message}`);
  }
}
