import type { Run } from '../command';
import { exitCodes } from '../exit';
import { withApp } from './stored-app';

/** Milliseconds between two readings of the progress. */
const INTERVAL = 200;

/** Declares the indexes of an app again and indexes all its records (docs/reference/json-interface.md#re-index). */
export const run: Run = async ({ args, options, output, host }) => {
  const rebuild = options.rebuild === true;
  const { site = '', app = '' } = args;
  const indexes = await withApp(host(), site, app, async ({ store, key, indexes }) => {
    const total = await store.count(key, indexes);
    const show = output.progress('Index', total);
    const timer = setInterval(() => {
      // A bar without a step is no failure of the work.
      store.progress(key).then(
        (progress) => progress && show(progress.done),
        () => undefined,
      );
    }, INTERVAL);
    try {
      const names = await store.refresh(key, indexes, { rebuild });
      show(total, true);
      return names;
    } finally {
      clearInterval(timer);
    }
  });
  output.line(`Indexes: ${indexes.join(', ')}`);
  output.data({ indexes });
  return exitCodes.fine;
};
