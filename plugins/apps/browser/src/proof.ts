import { BLOCK } from './settings';

/** The field of a form that needs a proof of work; it has the task. */
const FIELD = 'input[data-apps-challenge]';

const solving = new WeakMap<HTMLInputElement, Promise<void>>();

const unsolved = (form: Element): HTMLInputElement | null => {
  const field = form.querySelector<HTMLInputElement>(FIELD);
  return field && field.value === '' ? field : null;
};

/** Solves the task of a field once, in small steps that leave the page usable. */
function solve(field: HTMLInputElement): Promise<void> {
  const started = solving.get(field) ?? solution(field);
  solving.set(field, started);
  return started;
}

/** Finds the number whose hash, with the salt, is the challenge of ALTCHA. */
async function solution(field: HTMLInputElement): Promise<void> {
  try {
    const { algorithm, challenge, maxnumber, salt, signature } = JSON.parse(field.dataset.appsChallenge ?? '');
    for (let number = 0; field.value === '' && number <= maxnumber; number += 1) {
      const digest = await crypto.subtle.digest(algorithm, new TextEncoder().encode(salt + number));
      const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
      if (hex === challenge) field.value = btoa(JSON.stringify({ algorithm, challenge, number, salt, signature }));
    }
  } catch {
    // Browsers hash on https and localhost only: the server says what is missing.
    field.value = 'none';
  }
}

/** Begins with the task of a form when a visitor begins with the form. */
export function onFocus({ target }: FocusEvent): void {
  const form = target instanceof Element ? target.closest(BLOCK) : null;
  const field = form && unsolved(form);
  if (field) void solve(field);
}

/** Whether a form waits for its proof; it is then submitted again once that is there. */
export function waitsForProof(event: SubmitEvent): boolean {
  const form = event.target as HTMLFormElement;
  const field = unsolved(form);
  if (!field || event.defaultPrevented) return false;
  event.preventDefault();
  form.setAttribute('aria-busy', 'true');
  void solve(field).then(() => {
    form.removeAttribute('aria-busy');
    // Without a solution the server refuses the form, and gives it another task.
    if (field.value === '') field.value = 'none';
    form.requestSubmit(event.submitter as HTMLElement | null);
  });
  return true;
}
