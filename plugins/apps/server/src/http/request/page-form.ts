import type { ReservedField } from '../../apps';

/** Fields that are about one sending of a form: its buttons and its token. */
const SENDING =
  /^(?:action\..*|_save|_draft|_edit|_delete|_state|_withdraw|_revoke|_csrf|_next|_back|[^:]*:(?:add|search|(?:remove|up|down):\d+))$/s;

/** Begins the names of the fields that a login form keeps. */
const KEPT = 'kept.';

/** The field that tells a login form on the page of a posted form from that form itself. */
export const LOGIN = '_login' satisfies ReservedField;

/** Maximum fields that a login form keeps, and characters of all their names and values. */
const MAX_KEPT = 900;
const MAX_CHARACTERS = 200_000;

type Fields = Readonly<Record<string, unknown>>;

export const isLogin = (fields: Fields): boolean => fields[LOGIN] === '1';

/**
 * What a login form keeps of a posted form, or of a login form that was sent before, by name; null if it is too much. The
 * buttons are left out: after the login the form is shown again, and nothing is carried out.
 */
export function keptFields(fields: Fields): [name: string, value: string][] | null {
  const entries = Object.entries(isLogin(fields) ? unkept(fields) : fields);
  return boundedFields(entries.filter(([name]) => !SENDING.test(name)));
}

/** All fields of a posted form, so that it can be sent again; null if they are too many, or none. */
export const fieldsToSend = (fields: Fields): [name: string, value: string][] | null =>
  isLogin(fields) || Object.keys(fields).length === 0 ? null : boundedFields(Object.entries(fields));

function boundedFields(entries: [name: string, value: unknown][]): [name: string, value: string][] | null {
  const kept = entries.flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, String(one ?? '')]),
  );
  const characters = kept.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return kept.length <= MAX_KEPT && characters <= MAX_CHARACTERS ? kept : null;
}

/** The name of the field that keeps another one. */
export const keptName = (name: string): string => KEPT + name;

/** The fields that a sent login form has kept, by their own names. */
export function unkept(fields: Fields): Record<string, unknown> {
  const kept = Object.entries(fields).filter(([name]) => name.startsWith(KEPT));
  const own = kept.map(([name, value]) => [name.slice(KEPT.length), value] as const);
  return Object.fromEntries(own.filter(([name]) => !SENDING.test(name) && name !== LOGIN));
}
