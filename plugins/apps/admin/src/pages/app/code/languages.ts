import { javascript } from '@codemirror/lang-javascript';
import { liquid } from '@codemirror/lang-liquid';
import { python } from '@codemirror/lang-python';
import { yaml } from '@codemirror/lang-yaml';
import type { Extension } from '@codemirror/state';

const languages: Record<string, () => Extension> = {
  html: liquid,
  liquid,
  js: () => javascript(),
  mjs: () => javascript(),
  json: () => javascript(),
  ts: () => javascript({ typescript: true }),
  py: python,
  yaml,
  yml: yaml,
};

/** The colours of a file's language; none for other texts. */
export const languageOf = (path: string): Extension => languages[path.split('.').at(-1) ?? '']?.() ?? [];
