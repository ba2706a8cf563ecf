import { watch } from 'node:fs';
import type { Run } from '../command';
import { CannotRun, type ExitCode, exitCodes } from '../exit';
import { runOnce } from './process';
import { showOutcome, showResult } from './show';

/** Milliseconds without a change before the tests run again: an editor saves in several steps. */
const DEBOUNCE = 200;

/** `strapi-plugin-apps test` (docs/reference/app-tests.md). */
export const run: Run = async (invocation) => {
  const { options, args, output } = invocation;
  const host = invocation.host();
  const started = {
    root: host.requireRoot(),
    themes: host.themes,
    ...(args.app !== undefined && { app: args.app }),
    ...(typeof options.site === 'string' && { site: options.site }),
    ...(typeof options.name === 'string' && { pattern: checkedPattern(options.name) }),
  };
  const once = async (): Promise<ExitCode> =>
    showOutcome(output, await runOnce(started, (result) => showResult(output, result)));
  if (!options.watch) return once();
  for (;;) {
    const code = await once().catch((error: Error): ExitCode => {
      output.note(error.message);
      return exitCodes.cannotRun;
    });
    // The reader of the output has ended.
    if (process.stdout.errored) return code;
    output.note(`Waiting for a change in ${host.themes}`);
    await changeIn(host.themes);
  }
};

function checkedPattern(pattern: string): string {
  try {
    new RegExp(pattern);
    return pattern;
  } catch (error) {
    throw new CannotRun(`--name: ${(error as Error).message}`);
  }
}

function changeIn(folder: string): Promise<void> {
  return new Promise((done) => {
    let timer: NodeJS.Timeout | undefined;
    const watcher = watch(folder, { recursive: true }, () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        watcher.close();
        done();
      }, DEBOUNCE);
    });
  });
}
