import { DAY, momentInput } from './datetime-input';

/** A day, `2026-03-01`; `step` counts days. */
export const date = momentInput({
  type: 'date',
  shape: /^\d{4}-\d\d-\d\d$/,
  wanted: 'a date, such as 2026-03-01',
  stepSize: DAY,
  shown: /^\d{4}-\d\d-\d\d/,
});
