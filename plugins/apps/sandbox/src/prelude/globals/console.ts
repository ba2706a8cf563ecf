import type { LogLevel } from '../../../../shared/logic-protocol';
import { logText } from '../log';

/** Writes one entry to the app's log. */
export type WriteLog = (level: LogLevel, message: string) => void;

const GROUP = '  ';

/** `console`: its messages go to the log, as those of `context.app.log` do. */
export function makeConsole(write: WriteLog): object {
  let indent = '';
  const counts = new Map<string, number>();
  const timers = new Map<string, number>();
  const say = (level: LogLevel, values: readonly unknown[]) => write(level, indent + formatted(values));
  const at = (level: LogLevel) => ({ [level]: (...values: unknown[]) => say(level, values) })[level];
  const elapsed = (label: string) => `${label}: ${Date.now() - (timers.get(label) ?? Date.now())} ms`;
  const group = (...values: unknown[]) => {
    if (values.length > 0) say('info', values);
    indent += indent.length < 40 ? GROUP : '';
  };
  return {
    log: at('info'),
    info: at('info'),
    debug: at('debug'),
    warn: at('warn'),
    error: at('error'),
    trace: at('debug'),
    dir: (value: unknown) => say('info', [value]),
    dirxml: at('info'),
    table: (value: unknown) => say('info', [value]),
    assert(condition: unknown, ...values: unknown[]) {
      if (!condition) say('error', ['Assertion failed', ...values]);
    },
    count(label = 'default') {
      const count = (counts.get(String(label)) ?? 0) + 1;
      counts.set(String(label), count);
      say('info', [`${label}: ${count}`]);
    },
    countReset: (label = 'default') => void counts.delete(String(label)),
    time: (label = 'default') => void timers.set(String(label), Date.now()),
    timeLog: (label = 'default', ...values: unknown[]) => say('info', [elapsed(String(label)), ...values]),
    timeEnd(label = 'default') {
      say('info', [elapsed(String(label))]);
      timers.delete(String(label));
    },
    group,
    groupCollapsed: group,
    groupEnd() {
      indent = indent.slice(GROUP.length);
    },
    clear: () => undefined,
  };
}

/** The values as one line, `%s` and the like in the first one replaced by those that follow. */
function formatted([first, ...rest]: readonly unknown[]): string {
  if (typeof first !== 'string' || !first.includes('%')) return [first, ...rest].map(logText).join(' ');
  let next = 0;
  const text = first.replace(/%([sdifjoOc%])/g, (mark, kind: string) => {
    if (kind === '%') return '%';
    if (next >= rest.length) return mark;
    const value = rest[next++];
    if (kind === 'c') return '';
    if (kind === 'd' || kind === 'i' || kind === 'f')
      return String(kind === 'i' ? Math.trunc(Number(value)) : Number(value));
    return logText(value);
  });
  return [text, ...rest.slice(next).map(logText)].join(' ');
}
