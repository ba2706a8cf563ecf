/**
 * What an entry of the browser's history keeps: the address of what a block shows, and what is entered. Back, forward and a reload
 * lead to a form that was changed in place, such as one with pages or a repeated group: the page comes without the change, and so
 * without what was entered. The entry keeps the fields, as browsers do with those of a page that they know.
 */
import type { Loaded } from './fetch-block';
import { BLOCK, blocksIn, settingsOf, shownAt } from './settings';

/** The addresses that an entry of the browser's history shows in the blocks of its page, by the names of the blocks. */
type Shown = { [block: string]: string };

/** Blocks by app and id, and by their place among those that have the same. */
function blocksByName(): Map<string, HTMLFormElement> {
  const blocks = new Map<string, HTMLFormElement>();
  for (const block of blocksIn(document)) {
    const { app, block: id } = settingsOf(block);
    let place = 0;
    while (blocks.has(`${app}/${id}/${place}`)) place += 1;
    blocks.set(`${app}/${id}/${place}`, block);
  }
  return blocks;
}

const shownIn = (state: unknown): Shown | undefined => (state as { apps?: Shown } | null)?.apps;

/** What the present entry shows. */
let present = shownIn(history.state) ?? {};

/** Fields that are not part of what is looked for: the token and the buttons. */
const OTHER = /^(?:_|action\.)/;

/** Whether the address of what a link or button shows is to be shared. */
export const isShared = (origin: Element): boolean => origin.closest('[data-apps-history]') !== null;

/** The address at which a form's block shows what its fields say. */
export function addressOf(action: URL, fields: URLSearchParams): URL {
  const url = new URL(action);
  for (const [name, value] of fields) if (value !== '' && !OTHER.test(name)) url.searchParams.append(name, value);
  return url;
}

/** Puts the address of what a block is about to show into the address bar. Back leads to what it shows now. */
export function remember(block: HTMLFormElement, next: URL): void {
  if (next.origin !== location.origin) return;
  const now: Shown = {};
  let own = '';
  for (const [name, one] of blocksByName()) {
    now[name] = shownAt(one).href;
    if (one === block) own = name;
  }
  const apps = { ...now, ...shownIn(history.state) };
  history.replaceState({ ...history.state, apps }, '');
  present = { ...apps, [own]: next.href };
  if (next.href !== location.href || next.href !== apps[own]) history.pushState({ apps: present }, '', next);
}

/** Shows in the blocks what an entry of the history stands for, when the visitor goes back or forward. */
export function watchHistory(show: (block: HTMLFormElement, url: URL) => void): void {
  addEventListener('popstate', ({ state }) => {
    const shown = shownIn(state);
    if (!shown) return;
    for (const [name, block] of blocksByName()) {
      const url = shown[name];
      if (!url || url === present[name]) continue;
      // It takes the place of what loads: a second step may come before the answer to the first.
      block.removeAttribute('aria-busy');
      show(block, new URL(url));
    }
    present = shown;
  });
}

/** What is entered in forms: fields as a query, by the addresses that the forms are sent to. */
type Entered = { [action: string]: string };

/** Characters that an entry of the history keeps: browsers have bounds. */
const MAX_LENGTH = 200_000;

/** The token and what buttons say are not entered; the page of the form is, and so is the version of the record that it shows. */
const NOT_ENTERED = /^_(?!page|seen|version)/;

const changed = new WeakSet<Element>();

/** Called for what has replaced a block: the same form with other fields, or something else. */
export function followChange(old: Element, fresh: readonly Element[], { marked, redirect }: Loaded): void {
  if (redirect === null && (marked || changed.has(old)))
    for (const block of fresh.flatMap(blocksIn)) changed.add(block);
  keep();
}

const actionOf = (block: HTMLFormElement) => block.getAttribute('action') ?? '';

/** Writes what is entered in changed forms into the entry of the history. */
function keep(): void {
  const entered: Entered = {};
  for (const block of blocksIn(document)) if (changed.has(block)) entered[actionOf(block)] = fieldsOf(block);
  history.replaceState({ ...history.state, entered }, '');
}

/** Types and words of `autocomplete` of controls for what is stored nowhere, as the server knows them. */
const SECRET = /password|one-time|cc-(?:number|csc)/i;

/** What is entered in a form, without files and secrets; nothing where it is too long. */
function fieldsOf(block: HTMLFormElement): string {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(block))
    if (typeof value === 'string' && !NOT_ENTERED.test(name)) fields.append(name, value);
  for (const { name, type, autocomplete } of block.querySelectorAll<HTMLInputElement>('input, select, textarea'))
    if (SECRET.test(type + autocomplete)) fields.delete(name);
  const text = String(fields);
  return text.length < MAX_LENGTH ? text : '';
}

/** Keeps what is entered from now on; after Back, Forward or a reload `show` is called with the block and the fields that it had. */
export function keepEntered(show: (block: HTMLFormElement, fields: URLSearchParams) => void): void {
  let timer: number;
  document.addEventListener('input', ({ target }) => {
    const block = (target as Element).closest(BLOCK);
    if (block) changed.add(block);
    // Browsers bound how often an entry is written, and write none while the page is being left by a reload.
    clearTimeout(timer);
    timer = setTimeout(keep, 100);
  });
  const [visit] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  // Of a page that is new there is nothing to show again: its type is 'navigate' or 'prerender'.
  if (!/^[br]/.test(visit?.type as string)) return;
  for (const block of blocksIn(document)) {
    const entered = (history.state?.entered as Entered | undefined)?.[actionOf(block)];
    // After Back a browser may have filled in a plain form itself.
    if (!entered || entered === fieldsOf(block)) continue;
    const fields = new URLSearchParams(entered);
    fields.append('_csrf', String(new FormData(block).get('_csrf')));
    show(block, fields);
  }
}
