import { momentInput } from './inputs/datetime-input';

/** A time of day, `09:30`, in no time zone; `step` counts seconds. */
export const time = momentInput({
  type: 'time',
  shape: /^\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?$/,
  before: '1970-01-01T',
  wanted: 'time',
  stepSize: 1000,
  shown: /^\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?/,
});
