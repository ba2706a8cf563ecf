import type { PreludeRequest, WireProgram } from '../../../shared/logic-protocol';
import { createLooked } from '../looked';
import { type HostReference, sendStack, sendText } from '../prelude/bridge';
import { askTime, timeIsOver } from '../replies';
import { diagnose } from './diagnose';
import { helpers } from './helpers';
import { Machine } from './machine';
import { operations } from './operations';

/** Characters of JSON that Python reads without help. */
const shortJson = 2000;

/** Characters of a string that stay in the JSON. */
const shortString = 500;

/** First letter of JSON from which strings have been taken out, and of what stands for one: control characters. */
const marks = { json: '\u0001', text: '\u0000' };

export interface LongTexts {
  /** The JSON with a number instead of every long string. */
  takeOut(json: string): string;
  get(number: number): string;
  clear(): void;
}

/**
 * MicroPython reads a string in JSON in time that grows with the square of its length. So long strings are taken out
 * before it reads, and passed one by one (prelude/values.py).
 */
export function createLongTexts(): LongTexts {
  let texts: string[] = [];

  function takeOut(json: string): string {
    const before = texts.length;
    const short = JSON.stringify(
      JSON.parse(json, (_key, value: unknown) => {
        if (typeof value !== 'string') return value;
        const stays = value.length < shortString && !value.startsWith(marks.text);
        return stays ? value : `${marks.text}${texts.push(value) - 1}`;
      }),
    );
    return texts.length > before ? marks.json + short : json;
  }

  return {
    takeOut(json) {
      if (json.length < shortJson) return json;
      try {
        return takeOut(json);
      } catch {
        // Not JSON, or nested too deep: Python says so itself.
        return json;
      }
    },
    get: (number) => texts[number] ?? '',
    clear() {
      texts = [];
    },
  };
}

export interface PythonSource {
  /** The WebAssembly module, its memory limited. */
  module: ArrayBuffer;
  /** The memory of a machine that has run Python's prelude. */
  image: ArrayBuffer;
  /** Pages of 64 KiB that a machine may grow to. */
  pages: number;
}

/** One Python for one session at a time. */
export interface Python {
  /** The files of the next session's program. */
  load(modules: WireProgram['modules']): void;
  /** As the JavaScript prelude's: JSON text of a `PreludeRequest` in, of a `PreludeAnswer` out. Never throws. Interrupted after `time` ms. */
  entry(request: string, time: number): Promise<string>;
  /** Restores the memory from before the session. False: it has grown too large, dispose of the isolate. */
  reset(): boolean;
}

/** Text of an answer, for each function called and one more, as a multiple of what one result may have. */
const MAX_ANSWER_FACTOR = 1.5;

/**
 * Ticks, each of less than a millisecond, between two interruptions: describing where the first one came takes a few. They are not
 * counted by the clock, because the process may get no processor time meanwhile.
 */
const ticksBetween = 15;

/** A machine larger than this part of its limit is not kept. */
const maxKeptPart = 4;

/**
 * Prepares Python in a fresh context, in which no code of a theme runs as JavaScript: Python changes only its own
 * memory, which is restored after every session.
 */
export function start(reference: HostReference, { module, image, pages }: PythonSource): Python {
  const compiled = new WebAssembly.Module(module);
  const memory = new Uint8Array(image);
  let modules = new Map<string, string>();
  let request = '';
  let answer = '';
  let limits = { messageSize: 0, resultSize: 0 };
  /** The current time of a session with a fixed clock. */
  let now: number | undefined;

  /** What the session's logic has looked at. */
  let looked = createLooked();

  const texts = createLongTexts();

  /** When Python is interrupted, and ticks until it is interrupted again: logic may catch it. */
  let [end, ticksLeft] = [Number.POSITIVE_INFINITY, 0];
  /** Asks the runner when the time is over by the clock: others may have used the processors. */
  const isLate = () => {
    if (Date.now() < end) return false;
    const left = timeLeft(reference);
    if (left > 0) end = Date.now() + left;
    return left <= 0;
  };
  const interrupted = () => {
    ticksLeft = ticksBetween;
    return timeIsOver;
  };
  const tick = () => {
    ticksLeft -= 1;
    if (ticksLeft > 0 || !isLate()) return;
    interrupted();
    machine.interrupt();
  };

  const answers: Record<string, (text: string) => string> = {
    ...helpers,
    [operations.request]: () => texts.takeOut(request),
    [operations.answer](text) {
      answer = text;
      return '';
    },
    [operations.hostCalls](text) {
      if (text.length > limits.messageSize) throw new RangeError('the message is too long');
      return texts.takeOut(sendText(reference, text, interrupted));
    },
    [operations.look](name) {
      looked.at(name);
      return '';
    },
    [operations.takeOutTexts]: (text) => texts.takeOut(text),
    [operations.longText]: (number) => texts.get(Number(number)),
    [operations.diagnose](text) {
      const [line, path] = [Number.parseInt(text, 10), text.slice(text.indexOf(' ') + 1)];
      const found = diagnose(modules.get(path) ?? '', line);
      return found ? `${found.line} ${found.column} ${found.message}` : '';
    },
    [operations.module]: (path) => (modules.has(path) ? ` ${modules.get(path)}` : ''),
  };
  const bridge = (text: string) => answers[text.slice(0, 1)]?.(text.slice(1)) ?? '';
  const clock = { now: () => now ?? Date.now(), clockRead: () => looked.at('clock') };
  const makeMachine = () => new Machine({ module: compiled, image: memory, pages, bridge, tick, ...clock });
  let machine = makeMachine();
  let used = false;
  let broken: string | null = null;

  function answerTo(text: string): string {
    const asked = JSON.parse(text) as PreludeRequest;
    if (asked.op === 'open') ({ limits, now } = asked);
    if (broken) return failure(broken);
    request = text;
    answer = '';
    used = true;
    try {
      machine.run('_serve()');
    } catch (error) {
      broken = error instanceof RangeError ? 'maximum recursion depth exceeded' : 'the interpreter has failed';
      return failure(broken);
    }
    const calls = asked.op === 'properties' ? 0 : (asked.calls ?? []).length;
    const maxSize = limits.resultSize * MAX_ANSWER_FACTOR * (calls + 1);
    return answer.length <= maxSize ? answer : failure(`the answer is larger than ${maxSize} characters`);
  }

  return {
    load(given) {
      modules = new Map(given.map(({ path, code }) => [path, code]));
      looked = createLooked();
    },
    async entry(text, time) {
      end = Date.now() + time;
      const found = answerTo(text);
      // The answer ends with its closing bracket.
      return isLate() ? sendStack(reference, stackIn(found)) : `${found.slice(0, -1)}${looked.take()}}`;
    },
    reset() {
      modules = new Map();
      request = answer = '';
      texts.clear();
      if (!used) return true;
      const isTooLarge = machine.size > (pages * 65536) / maxKeptPart;
      if (broken || !machine.restore(memory)) machine = makeMachine();
      used = false;
      broken = null;
      return !isTooLarge;
    },
  };
}

/** Milliseconds that the runner still gives the request; 0 when its time is over. */
function timeLeft(reference: HostReference): number {
  try {
    return Number(sendText(reference, askTime, () => '0'));
  } catch {
    // The stack is full.
    return 0;
  }
}

/** The frames of an answer's error, if it is one. */
function stackIn(answer: string): string {
  return (JSON.parse(answer) as { error?: { stack: string } }).error?.stack ?? '';
}

function failure(message: string): string {
  return JSON.stringify({ error: { name: 'RuntimeError', message, stack: '' } });
}
