import { SERVER_ITEMS } from '../../indexes';
import { PAGES, pageFields } from './entries';

/** Fields and buttons that the service itself puts into forms, besides built-in actions and those of pages. */
const formFields = [
  '_csrf',
  '_login',
  '_website',
  '_shown',
  '_proof',
  '_confirm',
  '_version',
  '_state',
  '_draft_block',
  '_draft_email',
  '_revoke',
  '_withdraw',
] as const;

/** A field of `formFields`: where one has its name, the compiler compares it with the list. */
export type ReservedField = (typeof formFields)[number];

/**
 * Names that no element can have (docs/reference/definitions.md#built-in-actions): the service would take what is entered for its own. Built-in actions
 * may be declared, for their labels.
 */
export const reservedNames: ReadonlySet<string> = new Set([
  ...formFields,
  PAGES,
  ...Object.values(pageFields),
  ...SERVER_ITEMS,
]);
