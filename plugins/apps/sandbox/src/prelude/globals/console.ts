import type { LogLevel } from '../../../../shared/logic-protocol';
import { eachSession } from '../each-session';
import { logText } from '../log';

/** Writes one entry to the app's log. */
export type WriteLog = (level: LogLevel, message: string) => void;

const GROUP = '  ';

/** `console`: its messages go to the log, as those of `context.app.log` do. */
export function makeConsole(write: WriteLog): object {
  const state = eachSession(() => ({
    indent: '',
    counts: new Map<string, number>(),
    timers: new Map<string, number>(),
  }));
  const say = (level: LogLevel, values: readonly unknown[]) => write(level, state().indent + formatted(values));
  const at = (level: LogLevel) => ({ [level]: (...values: unknown[]) => say(level, values) })[level];
  const elapsed = (label: string) => `${label}: ${Date.now() - (state().timers.get(label) ?? Date.now())} ms`;
  const group = (...values: unknown[]) => {
    if (values.length > 0) say('info', values);
    const now = state();
    now.indent += now.indent.length < 40 ? GROUP : '';
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
      const { counts } = state();
      const count = (counts.get(String(label)) ?? 0) + 1;
      counts.set(String(label), count);
      say('info', [`${label}: ${count}`]);
    },
    countReset: (label = 'default') => void state().counts.delete(String(label)),
    time: (label = 'default') => void state().timers.set(String(label), Date.now()),
    timeLog: (label = 'default', ...values: unknown[]) => say('info', [elapsed(String(label)), ...values]),
    timeEnd(label = 'default') {
      say('info', [elapsed(String(label))]);
      state().timers.delete(String(label));
    },
    group,
    groupCollapsed: group,
    groupEnd() {
      const now = state();
      now.indent = now.indent.slice(GROUP.length);
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
