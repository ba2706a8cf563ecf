import { isWholeNumber } from '../../../shared/numbers';
import { dayBegin, zonedTime } from '../site-time';
import { operations } from './operations';
import { search, translate } from './regex';

type Helper = (text: string) => string;

/** Functions that MicroPython lacks, in JavaScript: text in, text out. */
export const helpers: Record<string, Helper> = {
  [operations.randomSeed]: () => String(Math.floor(Math.random() * 2 ** 30)),
  [operations.upperCase]: (text) => text.toUpperCase(),
  [operations.lowerCase]: (text) => text.toLowerCase(),
  [operations.isMadeOf]: (text) => String(classes[text.charAt(0)]?.test(text.slice(1)) ?? false),
  [operations.round](text) {
    const [digits, number] = text.split(' ');
    return round(Number(number), Number(digits));
  },
  [operations.isWholeNumber]: (text) => String(isWholeNumber(text)),
  [operations.quote]: (text) => JSON.stringify(text),
  [operations.zonedTime](text) {
    const [zone, time] = JSON.parse(text) as [string, number];
    return zonedTime(time, zone);
  },
  [operations.dayBegin](text) {
    const [zone, time, day, days] = JSON.parse(text) as [string, number, string, number];
    return regular(() => [dayBegin(zone, time, day, days)]);
  },
  [operations.compilePattern]: (text) => regular(() => compile(...(JSON.parse(text) as [string, number]))),
  [operations.searchPattern](text) {
    const [source, flags, subject, start, maxMatches, sticky, whole] = JSON.parse(text);
    return regular(() => search({ source, flags, text: subject, start, maxMatches, sticky, whole }));
  },
};

const classes: Record<string, RegExp> = {
  a: /^\p{L}+$/u,
  n: /^[\p{L}\p{N}]+$/u,
  d: /^\p{Nd}+$/u,
  i: /^[\p{L}_][\p{L}\p{N}_]*$/u,
};

function compile(pattern: string, flags: number): unknown {
  const translated = translate(pattern, flags);
  return [translated.source, translated.flags, translated.groups, translated.names];
}

/** JSON of a result, or of the message of a SyntaxError. */
function regular(work: () => unknown): string {
  try {
    return JSON.stringify(work());
  } catch (error) {
    return JSON.stringify(error instanceof Error ? error.message : 'a broken regular expression');
  }
}

/** Rounds half to even, as Python does; JavaScript rounds half up. */
function round(number: number, digits: number): string {
  if (!Number.isFinite(number) || Math.abs(number) >= 1e21 || digits > 60) return String(number);
  const exact = Math.abs(number).toFixed(100);
  const [whole = '', fraction = ''] = exact.split('.');
  const head = whole + fraction.slice(0, digits);
  const tail = fraction.slice(digits);
  const up = /^5(?!0*$)|^[6-9]/.test(tail) || (/^50*$/.test(tail) && Number(head.at(-1)) % 2 === 1);
  const rounded = String(BigInt(head) + (up ? 1n : 0n)).padStart(digits + 1, '0');
  const point = rounded.length - digits;
  return `${number < 0 ? '-' : ''}${rounded.slice(0, point)}.${rounded.slice(point) || '0'}`;
}
