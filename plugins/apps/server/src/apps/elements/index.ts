import { action } from './action';
import { basic } from './basic';
import { boolean } from './boolean';
import { checkboxes } from './checkboxes';
import { date } from './date';
import { datetime } from './datetime';
import { email } from './email';
import { hidden } from './hidden';
import { number } from './number';
import { radio } from './radio';
import { select } from './select';
import { text } from './text';
import { textarea } from './textarea';
import type { ElementType } from './types';
import { url } from './url';

/** The table of element types (contract, section 7): a new one is a file, a row and a test. */
export const elementTypes: ReadonlyMap<string, ElementType> = new Map(
  Object.entries({
    BASIC: basic,
    ACTION: action,
    TEXT: text,
    TEXTAREA: textarea,
    EMAIL: email,
    URL: url,
    HIDDEN: hidden,
    NUMBER: number,
    DATETIME: datetime,
    DATE: date,
    BOOLEAN: boolean,
    SELECT: select,
    RADIO: radio,
    CHECKBOXES: checkboxes,
  }),
);

export { actionField, builtInActions } from './action';
export { toOptions } from './choice';
export { escapeHtml } from './html';
export type { ElementType, ElementView } from './types';
