import { momentInput } from './inputs/datetime-input';

/** A day and time, `2026-03-01T09:30`, in the visitor's own time zone unless it names one; `step` counts seconds. */
export const datetime = momentInput({
  type: 'datetime-local',
  shape: /^\d{4}-\d\d-\d\dT/,
  wanted: 'datetime',
  stepSize: 1000,
  shown: /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?/,
});
