import type { Json } from '../../../../shared/json';
import { field, plainText, readableText } from './html';
import { rangeProblem, type Scale } from './range';
import { control, inputKeys, lastEntry, REQUIRED, shownText } from './text-input';
import type { ElementType } from './types';

const DAY = 86_400_000;

/** Milliseconds since 1970 of a real date `YYYY-MM-DD`, with or without a time; null for one that does not exist. */
export function momentOf(text: string): number | null {
  const found = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?(Z|[+-]\d\d:\d\d)?)?$/.exec(text);
  if (!found) return null;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((part) => Number(part ?? 0)) as number[];
  if (year === 0 || hour! > 23 || minute! > 59 || second! > 59) return null;
  const date = new Date(0);
  date.setUTCFullYear(year!, month! - 1, day!);
  if (date.getUTCMonth() !== month! - 1 || date.getUTCDate() !== day) return null;
  const time =
    date.getTime() + ((hour! * 60 + minute!) * 60 + second!) * 1000 + Number((found[7] ?? '').padEnd(3, '0'));
  const offset = offsetMinutes(found[8]);
  return offset === null ? null : time - offset * 60_000;
}

function offsetMinutes(zone: string | undefined): number | null {
  if (zone === undefined || zone === 'Z') return 0;
  const [hours, minutes] = zone.slice(1).split(':').map(Number) as [number, number];
  if (hours > 14 || minutes > 59) return null;
  return (hours * 60 + minutes) * (zone.startsWith('-') ? -1 : 1);
}

export interface MomentOptions {
  /** HTML input type. */
  type: 'date' | 'datetime-local';
  shape: RegExp;
  /** The form of the type in words, with an example. */
  wanted: string;
  /** Milliseconds of one `step`. */
  stepSize: number;
  /** Characters of the value that the browser's control takes. */
  shown: RegExp;
}

/** An element type of dates; stored as the ISO 8601 string that was submitted, empty as null. */
export function momentInput({ type, shape, wanted, stepSize, shown }: MomentOptions): ElementType {
  const scale: Scale = {
    position: (value) => (typeof value === 'string' && shape.test(value) ? momentOf(value) : null),
    stepSize,
  };
  const inControl = (value: Json) => shown.exec(plainText(value))?.[0] ?? '';
  return {
    keys: [...inputKeys, 'placeholder', 'min', 'max', 'step'],
    input: true,
    read(submitted, definition) {
      const text = lastEntry(submitted).trim();
      if (text === '') return definition.required ? { error: REQUIRED } : { value: null };
      const moment = scale.position(text);
      if (moment === null) return { error: `Please enter ${wanted}.` };
      const error = rangeProblem(moment, definition, scale);
      return error === null ? { value: text } : { error };
    },
    render(view) {
      if (view.mode === 'text') return readableText(view.value);
      const { placeholder, min, max, step } = view.definition;
      const value = view.entered ? shownText(view) : inControl(view.value);
      return field(view, control(view, type, { placeholder, min, max, step }, value));
    },
  };
}

export { DAY };
