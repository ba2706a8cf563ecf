import { z } from 'zod';
import { check } from '../yaml/check';
import { boundedList, caption } from '../yaml/schema';
import { classNames, label } from './inputs/settings';
import { showIfSetting } from './inputs/show-if';
import type { ElementType } from './types';

/** Maximum elements of a group. */
const MAX_MEMBERS = 200;

const NOT_NAMES = 'This must be a list of names of elements';

const members = check<string[]>(
  boundedList(MAX_MEMBERS, `A group has at most ${MAX_MEMBERS} elements`, z.array(z.string(NOT_NAMES), NOT_NAMES)),
);

/** Elements under a heading (docs/reference/definitions.md#groups). */
export const group: ElementType = {
  role: 'group',
  settings: {
    ...label,
    help: { as: 'help', check: caption },
    ...classNames,
    ...showIfSetting,
    elements: { as: 'members', check: members },
  },
};
