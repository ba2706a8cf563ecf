import { type Items, itemOf, type Json } from '../../../../../shared/json';
import { memoized } from '../../../common/collections';
import { type FormFields, isShown, isTruth, membersOf, PAGES, pageFields, textsCompared } from '../../elements';
import type { Block, Definition, FormPage } from '../../types';
import type { Entries } from './inputs';

const { page: PAGE, seen: SEEN, next: NEXT, back: BACK } = pageFields;

/** Where a visitor is in a form with pages. */
export interface PageState {
  page: number;
  /** Pages that were shown, with this one: their fields are in the form, those of others have their usual values. */
  seen: ReadonlySet<number>;
  /** Pages of which nothing is shown by what was entered so far. */
  hidden: ReadonlySet<number>;
  /** Elements of all pages that are not shown. */
  absent: ReadonlySet<string>;
  /** Whether a button has led here: the page's heading then has the focus. */
  moved: boolean;
  /** The form as it was sent, of which fields of other pages are kept. */
  fields: FormFields;
}

/** The names on a page: its elements, and those of its groups. */
export function namesOn({ elements }: Definition, page: FormPage | undefined): string[] {
  return (page?.elements ?? []).flatMap((name) => {
    const element = elements.get(name);
    return [name, ...(element ? membersOf(element) : [])];
  });
}

/** The pages that a block's form has; empty where its layout has no place for them. */
export function pagesOf({ definition }: Block, shows: (name: string) => boolean): readonly FormPage[] {
  return definition.pages && shows(PAGES) ? definition.pages : [];
}

/** Numbers of pages in a field of the form. */
function numbersIn(fields: FormFields, name: string, count: number): number[] {
  const given = Object.hasOwn(fields, name) ? [fields[name]].flat().at(-1) : undefined;
  const texts =
    String(given ?? '')
      .slice(0, 1_000)
      .match(/\d{1,4}/g) ?? [];
  return texts.map(Number).filter((number) => number < count);
}

/** The pages whose fields a posted form holds: all, if it does not say. */
export function seenPages(fields: FormFields, count: number): Set<number> {
  if (!Object.hasOwn(fields, PAGE)) return new Set(Array.from({ length: count }, (_, index) => index));
  return new Set([...numbersIn(fields, SEEN, count), currentPage(fields, count)]);
}

/** The page that was sent; the first one, if the form does not say. */
export const currentPage = (fields: FormFields, count: number): number => numbersIn(fields, PAGE, count)[0] ?? 0;

const NO_PAGES: ReadonlyMap<string, number> = new Map();

const pageNumbers = memoized((definition: Definition): ReadonlyMap<string, number> => {
  const found = new Map<string, number>();
  for (const [index, page] of (definition.pages ?? []).entries())
    for (const name of namesOn(definition, page)) if (!found.has(name)) found.set(name, index);
  return found;
});

/** The page of each element, also of those in groups: the first that has it. @param pages those of `pagesOf` */
export const pagesByElement = (definition: Definition, pages: readonly FormPage[]): ReadonlyMap<string, number> =>
  pages.length > 0 ? pageNumbers(definition) : NO_PAGES;

/** The inputs that conditions are about. */
export const conditionInputs = memoized(
  ({ elements }: Definition): ReadonlySet<string> =>
    new Set([...elements.values()].flatMap(({ showIf }) => Object.keys(showIf ?? {}))),
);

/**
 * The elements that are not shown by what a form holds; a field that is not shown is empty to the conditions after it.
 * @param items values of inputs that were not entered
 */
export function absentElements({ elements }: Definition, entered: Entries['entered'], items: Items): Set<string> {
  const absent = new Set<string>();
  const valueFor = (name: string): Json => {
    if (absent.has(name)) return null;
    const texts = entered.get(name);
    const element = elements.get(name);
    if (!texts || !element) return itemOf(items, name);
    // A box of the layout's own markup may send any text.
    return [...(isTruth(element) ? textsCompared(element, texts) : texts)];
  };
  for (const element of elements.values()) if (!isShown(element, valueFor)) absent.add(element.name);
  return absent;
}

const NOTHING: Entries['entered'] = new Map();

/** The first page of a form that was not sent yet. @param items values that its inputs have then, where conditions are about them */
export function firstPage(definition: Definition, pages: readonly FormPage[], items: Items): PageState {
  const absent = absentElements(definition, NOTHING, items);
  const hidden = hiddenPages(pages, absent);
  const page = Math.max(
    0,
    [...pages.keys()].findIndex((index) => !hidden.has(index)),
  );
  return { page, seen: new Set([page]), hidden, absent, moved: false, fields: {} };
}

/** Whether a button of the pages was pressed. */
export const isPageMove = (fields: FormFields): boolean => [NEXT, BACK].some((name) => Object.hasOwn(fields, name));

/** Pages of which no element is shown. */
function hiddenPages(pages: readonly FormPage[], absent: ReadonlySet<string>): Set<number> {
  return new Set([...pages.keys()].filter((index) => pages[index]?.elements.every((name) => absent.has(name))));
}

/** The next page that shows something, in one direction; the same one if there is none. */
export function neighbour(page: number, step: 1 | -1, count: number, hidden: ReadonlySet<number>): number {
  for (let at = page + step; at >= 0 && at < count; at += step) if (!hidden.has(at)) return at;
  return page;
}

/** A page that shows something and was not shown yet; -1 if there is none. */
function unseenPage(pages: readonly FormPage[], seen: ReadonlySet<number>, hidden: ReadonlySet<number>): number {
  return [...pages.keys()].find((index) => !seen.has(index) && !hidden.has(index)) ?? -1;
}

/**
 * The page that a posted form leads to: the first one with an error, else the one that its button leads to, else the same.
 * @param entries what was entered, and what is wrong with it
 * @param items values of inputs that were not entered, where conditions are about them
 */
export function pageState(
  definition: Definition,
  pages: readonly FormPage[],
  fields: FormFields,
  { entered, errors }: Pick<Entries, 'entered' | 'errors'>,
  items: Items,
): PageState {
  const count = pages.length;
  const absent = absentElements(definition, entered, items);
  const hidden = hiddenPages(pages, absent);
  const seen = seenPages(fields, count);
  const current = currentPage(fields, count);
  const pageOf = pagesByElement(definition, pages);
  const wrong = errors.flatMap(({ path }) => pageOf.get(path[0] ?? '') ?? []);
  const state = (page: number, moved: boolean): PageState => ({
    page,
    seen: new Set([...seen, page]),
    hidden,
    absent,
    moved: moved && page !== current,
    fields,
  });
  if (errors.length > 0) return state(wrong.length > 0 ? Math.min(...wrong) : current, false);
  if (Object.hasOwn(fields, BACK)) return state(neighbour(current, -1, count, hidden), true);
  if (Object.hasOwn(fields, NEXT)) return state(neighbour(current, 1, count, hidden), true);
  const unseen = Object.hasOwn(fields, '_save') ? unseenPage(pages, seen, hidden) : -1;
  return state(unseen < 0 ? current : unseen, true);
}
