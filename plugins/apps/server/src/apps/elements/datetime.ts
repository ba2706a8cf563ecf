import { momentInput } from './datetime-input';

/** A day and time, `2026-03-01T09:30`, in the visitor's own zone unless it says otherwise; `step` counts seconds. */
export const datetime = momentInput({
  type: 'datetime-local',
  shape: /^\d{4}-\d\d-\d\dT/,
  wanted: 'a date and time, such as 2026-03-01T09:30',
  stepSize: 1000,
  shown: /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?/,
});
