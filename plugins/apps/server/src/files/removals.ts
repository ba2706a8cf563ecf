import { setTimeout as pause } from 'node:timers/promises';
import { grouped } from '../common/collections';
import { isAppsError } from '../common/errors';
import type { Logger } from '../common/log';
import type { Library, ReleasedFile } from './library';
import type { AppKey } from './types';

/** Files that are looked at together: one search, and one statement of the media library. */
const BATCH = 100;

/** Milliseconds until the records are asked again while their index is being built. */
const WAIT = 1_000;

export interface RemovalTools {
  library: Pick<Library, 'released' | 'inContent' | 'keep' | 'remove'>;
  /** Those of the files that records of the app name. ServiceUnavailableError while that cannot be told. */
  namedFiles(key: AppKey, documentIds: readonly string[]): Promise<ReadonlySet<string>>;
  logger: Pick<Logger, 'error'>;
}

/** Removes released files that nothing uses any more. What waits is in the database only. */
export interface Removals {
  /** Looks at all released files; one after the other, in batches, whatever else runs. */
  begin(): void;
  /** Waits until the current batch is done, and begins no other. */
  destroy(): Promise<void>;
}

export function createRemovals({ library, namedFiles, logger }: RemovalTools): Removals {
  const stop = new AbortController();
  let isAsked = false;
  let running: Promise<void> | undefined;

  const failed = (error: unknown): void => {
    if (!stop.signal.aborted) logger.error(`[apps] files could not be removed: ${String(error)}`);
  };

  const named = async (key: AppKey, files: readonly string[]): Promise<ReadonlySet<string>> => {
    for (;;) {
      try {
        return await namedFiles(key, files);
      } catch (error) {
        if (!isAppsError(error, 'ServiceUnavailableError')) throw error;
        await pause(WAIT, undefined, { signal: stop.signal });
      }
    }
  };

  const removeUnused = async (released: readonly ReleasedFile[]): Promise<void> => {
    const [first] = released;
    if (!first) return;
    const files = released.map(({ file }) => file);
    const inContent = await library.inContent(files);
    const asked = files.filter((file) => !inContent.has(file));
    const used = new Set([...inContent, ...(await named({ site: first.site, app: first.app }, asked))]);
    await library.keep(released.filter(({ file }) => used.has(file)));
    for (const file of asked) if (!used.has(file)) await library.remove([file]).catch(failed);
  };

  /** Files that could not be removed stay released, for the next time. */
  const lookAtAll = async (): Promise<void> => {
    for (let after = 0; !stop.signal.aborted; ) {
      const released = await library.released(after, BATCH);
      after = released.at(-1)?.id ?? 0;
      if (after === 0) return;
      for (const ofApp of grouped(released, ({ site, app }) => `${site}\n${app}`).values())
        await removeUnused(ofApp).catch(failed);
    }
  };

  const run = async (): Promise<void> => {
    while (isAsked && !stop.signal.aborted) {
      isAsked = false;
      await lookAtAll().catch(failed);
    }
    running = undefined;
  };

  return {
    begin() {
      isAsked = true;
      running ??= run();
    },
    async destroy() {
      stop.abort();
      await running;
    },
  };
}
