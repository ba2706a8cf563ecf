/**
 * Back and forward to a form that was changed in place, such as one with pages or a repeated group, and a reload of any form: the
 * page comes without the change, and so without what was entered. The entry of the browser's history keeps the fields, as
 * browsers do with those of a page that they know.
 */
import type { Loaded } from './fetch-block';
import { BLOCK, blocksIn } from './settings';

/** Fields of forms, as a query, by the addresses that the forms are sent to. */
type Entered = { [action: string]: string };

/** Characters that an entry of the history keeps: browsers have bounds. */
const MAX_LENGTH = 200_000;

/** The token and what buttons say are not entered; the page of the form is, and so is the version of the record that it shows. */
const OTHER = /^_(?!page|seen|version)/;

const changed = new WeakSet<Element>();

/** Called for what has replaced a block: the same form with other fields, or something else. */
export function followChange(old: Element, fresh: readonly Element[], { marked, redirect }: Loaded): void {
  if (redirect === null && (marked || changed.has(old)))
    for (const block of fresh.flatMap(blocksIn)) changed.add(block);
  keep();
}

const addressOf = (block: HTMLFormElement) => block.getAttribute('action') ?? '';

/** Writes what is entered in changed forms into the entry of the history. */
function keep(): void {
  const entered: Entered = {};
  for (const block of blocksIn(document)) if (changed.has(block)) entered[addressOf(block)] = fieldsOf(block);
  history.replaceState({ ...history.state, entered }, '');
}

/** What is entered in a form, without files; nothing where it is too long. */
function fieldsOf(block: HTMLFormElement): string {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(block))
    if (typeof value === 'string' && !OTHER.test(name)) fields.append(name, value);
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
    const entered = (history.state?.entered as Entered | undefined)?.[addressOf(block)];
    // After Back a browser may have filled in a plain form itself.
    if (!entered || entered === fieldsOf(block)) continue;
    const fields = new URLSearchParams(entered);
    fields.append('_csrf', String(new FormData(block).get('_csrf')));
    show(block, fields);
  }
}
