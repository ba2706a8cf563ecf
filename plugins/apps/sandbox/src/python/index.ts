import { type HostReference, sendText, tellPlace } from '../prelude/bridge';
import type { PreludeRequest } from '../prelude/types';
import type { WireProgram } from '../protocol';
import { diagnose } from './diagnose';
import { helpers } from './helpers';
import { createLongTexts } from './long-text';
import { Machine } from './machine';

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
  /** Forgets the session: the memory is what it was before. False: it has grown too large, dispose of the isolate. */
  reset(): boolean;
}

/** Text of an answer, for each function called and one more, as a multiple of what one result may have. */
const answerFactor = 1.5;

/** The answer to Python when the time is over: it interrupts itself. */
const late = 'T';

/** Milliseconds between two interruptions: describing where the first one came takes a few. */
const interruptTime = 15;

/** A machine larger than this part of what it may have is not worth keeping. */
const wornPart = 4;

/**
 * Makes Python ready in a fresh context, in which no code of a theme ever runs as JavaScript: what Python does, it does
 * to its own memory, which is put back after every session.
 */
export function start(reference: HostReference, { module, image, pages }: PythonSource): Python {
  const compiled = new WebAssembly.Module(module);
  const memory = new Uint8Array(image);
  let modules = new Map<string, string>();
  let request = '';
  let answer = '';
  let limits = { messageSize: 0, resultSize: 0 };

  const texts = createLongTexts();

  /** When Python is interrupted, and when the last interrupt was raised: logic may catch it. */
  let [end, told] = [Number.POSITIVE_INFINITY, 0];
  const isLate = () => Date.now() >= end;
  const interrupted = () => {
    told = Date.now();
    return late;
  };
  const tick = () => {
    if (!isLate() || Date.now() - told < interruptTime) return;
    told = Date.now();
    machine.interrupt();
  };

  const ways: Record<string, (text: string) => string> = {
    ...helpers,
    R: () => texts.takeOut(request),
    A(text) {
      answer = text;
      return '';
    },
    H(text) {
      if (text.length > limits.messageSize) throw new RangeError('the message is too long');
      return texts.takeOut(sendText(reference, text, interrupted));
    },
    J: (text) => texts.takeOut(text),
    G: (number) => texts.get(Number(number)),
    // Diagnoses a file that does not compile: line and path in, `<line> <column> <message>` out, or nothing.
    D(text) {
      const [line, path] = [Number.parseInt(text, 10), text.slice(text.indexOf(' ') + 1)];
      const found = diagnose(modules.get(path) ?? '', line);
      return found ? `${found.line} ${found.column} ${found.message}` : '';
    },
    // A leading blank tells an empty file from none.
    M: (path) => (modules.has(path) ? ` ${modules.get(path)}` : ''),
  };
  const bridge = (text: string) => ways[text.slice(0, 1)]?.(text.slice(1)) ?? '';
  const makeMachine = () => new Machine({ module: compiled, image: memory, pages, bridge, tick });
  let machine = makeMachine();
  let used = false;
  let broken: string | null = null;

  function answerTo(text: string): string {
    const asked = JSON.parse(text) as PreludeRequest;
    if (asked.op === 'open') limits = asked.limits;
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
    const most = limits.resultSize * answerFactor * (calls + 1);
    return answer.length <= most ? answer : failure(`the answer is larger than ${most} characters`);
  }

  return {
    load(given) {
      modules = new Map(given.map(({ path, code }) => [path, code]));
    },
    async entry(text, time) {
      end = Date.now() + time;
      const found = answerTo(text);
      return isLate() ? tellPlace(reference, stackIn(found)) : found;
    },
    reset() {
      modules = new Map();
      request = answer = '';
      texts.clear();
      if (!used) return true;
      const worn = machine.size > (pages * 65536) / wornPart;
      if (broken || !machine.restore(memory)) machine = makeMachine();
      used = false;
      broken = null;
      return !worn;
    },
  };
}

/** The frames of an answer's error, if it is one. */
function stackIn(answer: string): string {
  return (JSON.parse(answer) as { error?: { stack: string } }).error?.stack ?? '';
}

function failure(message: string): string {
  return JSON.stringify({ error: { name: 'RuntimeError', message, stack: '' } });
}
