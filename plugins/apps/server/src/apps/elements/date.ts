import { DAY, momentInput } from './inputs/datetime-input';

/** A day, `2026-03-01`; `step` counts days. */
export const date = momentInput({
  type: 'date',
  format: 'date',
  shape: /^\d{4}-\d\d-\d\d$/,
  wanted: 'date',
  stepSize: DAY,
  shown: /^\d{4}-\d\d-\d\d/,
});
