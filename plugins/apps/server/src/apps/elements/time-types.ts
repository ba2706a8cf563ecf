import type { Json } from '../../../../shared/json';
import { serverTimeZone } from '../../common/time/cron';
import { isoMoment, type Moment, onClock, type Region, readableMoment } from '../../common/time/moments';
import { message } from '../locales';
import { escapeHtml, field, plainText } from './inputs/html';
import {
  type Autocomplete,
  autocomplete,
  inputSettings,
  type Placeholder,
  placeholder,
  unique,
} from './inputs/settings';
import {
  checkRange,
  control,
  lastEntry,
  type Range,
  REQUIRED,
  rangeProblem,
  rangeSettings,
  type Scale,
  shownText,
} from './inputs/text-input';
import type { ElementType } from './types';

const DAY = 86_400_000;

/** The formats in words, with an example, for definition errors. */
const inWords = {
  date: 'a date, such as 2026-03-01',
  datetime: 'a date and time, such as 2026-03-01T09:30',
  time: 'a time, such as 09:30',
};

interface MomentOptions {
  /** HTML input type. */
  type: 'date' | 'datetime-local' | 'time';
  shape: RegExp;
  /** Makes a moment of a submitted value: the day of a time. */
  before?: string;
  /** Format of JSON Schema that every value has. */
  format?: 'date';
  /** The message that asks for the format. */
  wanted: keyof typeof inWords;
  /** Milliseconds of one `step`. */
  stepSize: number;
  /** The part of the value that the browser's control accepts. */
  shown: RegExp;
}

/** What the site's clock shows at a moment, as if it were UTC. */
const onSiteClock = (moment: Moment, { timeZone }: Pick<Region, 'timeZone'>): number =>
  onClock(moment, timeZone ?? serverTimeZone());

/** A moment by the site's clock, which pages show: HTML's control for a date and time knows no zones. */
const inZone = (moment: Moment, region: Region): string =>
  new Date(onSiteClock(moment, region)).toISOString().replace(/(?:\.000)?Z$/, '');

/** The clock of a value that no form has sent: its site is not known. */
const NO_SITE = { timeZone: 'UTC' };

/** A stored date or time in the language of the page. */
const readable = (value: Json, region: Region): string => readableMoment(plainText(value), region);

type MomentSettings = Placeholder & Autocomplete & Range;

/** An element type of dates, stored as the submitted ISO 8601 string; an empty field is null. */
function momentInput({
  type,
  shape,
  before = '',
  format,
  wanted,
  stepSize,
  shown,
}: MomentOptions): ElementType<MomentSettings> {
  const momentOf = (text: string): Moment | null => (shape.test(text) ? isoMoment(before + text) : null);
  /** Of `min` and `max`, which have no zone. */
  const scale: Scale = { position: (bound) => momentOf(String(bound))?.time ?? null, stepSize };
  /** What the control shows; null for a stored value that it cannot show, such as `01.03.2026`. */
  const inControl = (value: Json, region: Region): string | null => {
    const text = plainText(value);
    if (text === '') return '';
    const moment = isoMoment(before + text);
    if (!moment) return null;
    if (type === 'datetime-local' && moment.kind === 'instant') return inZone(moment, region);
    return shown.exec(text)?.[0] ?? null;
  };
  return {
    role: 'input',
    cell: wanted,
    ...(wanted !== 'time' && { isDate: true }),
    ...(wanted !== 'date' && { isClock: true }),
    settings: { ...inputSettings, ...placeholder, ...autocomplete, ...unique, ...rangeSettings },
    check: (definition, at) =>
      checkRange(definition, at, (bound) => {
        const moment = typeof bound.value === 'string' ? momentOf(bound.value) : null;
        if (!moment) return bound.fail(`This must be ${inWords[wanted]}`);
        if (moment.kind === 'instant')
          return bound.fail("This is a time by the site's clock: leave out the time zone at its end");
        return moment.time;
      }),
    schema: ({ required }) => ({
      type: required ? 'string' : ['string', 'null'],
      ...(format ? { format } : { pattern: shape.source }),
    }),
    otherType: message(wanted),
    shows: (value, _definition, region) => [inControl(value, region) ?? plainText(value)],
    compares(submitted) {
      const text = lastEntry(submitted).trim();
      const moment = momentOf(text);
      // A control sends no zone: with one it is another text than that of the control.
      return [moment && moment.kind !== 'instant' ? String(moment.time) : text];
    },
    read(submitted, definition, { request }) {
      const text = lastEntry(submitted).trim();
      if (text === '') return definition.required ? { error: REQUIRED } : { value: null };
      const moment = momentOf(text);
      if (moment === null) return { error: message(wanted) };
      const error = rangeProblem(onSiteClock(moment, request?.region ?? NO_SITE), definition.settings, scale);
      return error === null ? { value: text } : { error };
    },
    readable,
    show(view) {
      if (view.mode === 'text') return escapeHtml(readable(view.value, view.locale));
      const { placeholder: hint, min, max, step } = view.definition.settings;
      const value = inControl(view.entered ? shownText(view) : view.value, view.locale);
      if (value === null) return field(view, control(view, 'text', { placeholder: hint }));
      // Without it a browser takes whole minutes from `min` on, and refuses a stored time with seconds.
      const free = type === 'date' ? undefined : 'any';
      return field(view, control(view, type, { placeholder: hint, min, max, step: step ?? free }, value));
    },
  };
}

export { DAY };

/** A day, `2026-03-01`; `step` counts days. */
export const date = momentInput({
  type: 'date',
  format: 'date',
  shape: /^\d{4}-\d\d-\d\d$/,
  wanted: 'date',
  stepSize: DAY,
  shown: /^\d{4}-\d\d-\d\d/,
});

/** A day and time, `2026-03-01T09:30`, in the visitor's own time zone unless it names one; `step` counts seconds. */
export const datetime = momentInput({
  type: 'datetime-local',
  shape: /^\d{4}-\d\d-\d\dT/,
  wanted: 'datetime',
  stepSize: 1000,
  shown: /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?/,
});

/** A time of day, `09:30`, in no time zone; `step` counts seconds. */
export const time = momentInput({
  type: 'time',
  shape: /^\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?$/,
  before: '1970-01-01T',
  wanted: 'time',
  stepSize: 1000,
  shown: /^\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?/,
});
