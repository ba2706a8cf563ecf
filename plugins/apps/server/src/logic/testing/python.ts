import { errorText } from '../../common/errors';
import type { LogicProgram, LogicRuntime } from '../types';
import { contextOf, fakeHost, programOf, runOnce } from './harness';

export const lines = (...text: string[]): string => text.join('\n');

/** A program of the given files, or of `blocks/test.py` with the given text. */
export function python(body: string | Record<string, string>): LogicProgram {
  return programOf(typeof body === 'string' ? { 'blocks/test.py': body } : body, 'blocks/test.py');
}

/** The value of `f(context)` with the given lines as its body, or the name and text of its error. */
export async function runPython(
  runtime: LogicRuntime,
  body: string[],
  host = fakeHost(),
  changed = {},
): Promise<unknown> {
  const source = lines('def f(context):', ...body.map((line) => `    ${line}`));
  const outcome = await runOnce(runtime, python(source), { host, context: contextOf(changed) });
  return outcome.ok ? outcome.value : `${outcome.error.name}: ${errorText(outcome.error)}`;
}
