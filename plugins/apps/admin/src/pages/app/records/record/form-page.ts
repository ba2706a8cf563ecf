/** Fields that only the site uses. */
const excluded = new Set(['_csrf']);

/** A page around the form of a block. Without a theme's styles it is plain, and readable in both modes. */
export const page = (form: string): string =>
  `<!doctype html><meta charset="utf-8"><base target="_blank"><style>
body { font: 14px/1.5 system-ui, sans-serif; color: #32324d; margin: 8px; }
label, .apps-choice { display: block; } :is([type=checkbox], [type=radio]) + label { display: inline; }
input:not([type=checkbox], [type=radio]), select, textarea { font: inherit; max-width: 100%; padding: 6px; }
[role=alert], .apps-error { color: #b72b1a; } button { font: inherit; padding: 6px 12px; }
</style>${unfocused(form)}`;

/** Attribute in place of `autofocus`, which a browser refuses in a frame without scripts. */
const FIRST = 'data-apps-first';

function unfocused(form: string): string {
  const { body } = new DOMParser().parseFromString(form, 'text/html');
  for (const field of body.querySelectorAll('[autofocus]')) {
    field.removeAttribute('autofocus');
    field.setAttribute(FIRST, '');
  }
  return body.innerHTML;
}

/** Focuses the field that the form begins with. */
export const focusFirst = (page: Document): void => page.querySelector<HTMLElement>(`[${FIRST}]`)?.focus();

/** What a browser would send of a form. */
export interface Sent {
  fields: Record<string, string | string[]>;
  /** New files with the names of their fields. */
  files: [field: string, file: File][];
}

/** What a browser would send: the fields of the form, its new files, and its pressed button. */
export function sentBy(event: SubmitEvent): Sent {
  const form = event.target as HTMLFormElement;
  const button = event.submitter as HTMLButtonElement | null;
  const fields = new Map<string, string[]>();
  const add = (name: string, value: string) => fields.set(name, [...(fields.get(name) ?? []), value]);
  const files: Sent['files'] = [];
  for (const [name, value] of new FormData(form)) {
    if (typeof value !== 'string') {
      // A browser sends an empty file for a field in which none was chosen.
      if (value.name !== '' || value.size > 0) files.push([name, value]);
    } else if (!excluded.has(name)) add(name, value);
  }
  if (button?.name) add(button.name, button.value);
  const named = Object.fromEntries(
    [...fields].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  );
  return { fields: named, files };
}
