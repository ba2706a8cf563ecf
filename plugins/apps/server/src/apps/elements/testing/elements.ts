import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { localeFor } from '../../locales';
import type { ElementDefinition } from '../../types';
import { elementTypes } from '..';

export const position = { file: 'x.yaml' };
export const colors = [
  { value: 'red', label: 'Red <1>' },
  { value: 2, label: 'Two' },
];

export const site = { id: 'site', title: 'Site', url: 'http://x/site', theme: 'main', locale: null, timeZone: null };
export const locale = await localeFor(site, new Map());

export const named = (more: Partial<ElementDefinition>): ElementDefinition => ({
  name: 'a',
  type: '',
  position,
  ...more,
});

/** The names of the input types that show a control. */
export const shownInputs = [...elementTypes]
  .filter(([, { role, render }]) => role === 'input' && render)
  .map(([name]) => name);

export const schemas = addFormats(new Ajv2020({ strict: false }));
