import { contentVersion } from '../../common/assets';
import type { AppLocation, Site } from '../types';
import { changedLately, findFiles, readThemeFile, type Search } from './theme-files';

/**
 * Keys of definitions for which the server looks at apps by itself: schedules run, times end, and a line of the log may name a person
 * without a request to the app.
 */
const watched = ['schedules', 'keep', 'confirm', 'waiting_list', 'person'] as const;

export type WatchedWord = (typeof watched)[number];

const all: ReadonlySet<WatchedWord> = new Set(watched);

const searches: Search[] = [{ folder: 'blocks', deep: true, accepts: (name) => /\.ya?ml$/.test(name) }];

/** The watched words that a definition may have: an escape may write any key, and a file that is not read may have any. */
function wordsIn({ text, problem }: { text: string; problem?: string | undefined }): Iterable<WatchedWord> {
  return problem !== undefined || text.includes('\\') ? all : watched.filter((word) => text.includes(word));
}

/** Finds the watched words of apps. A file is read again when it has changed, and its text is not kept: a theme may have thousands of apps. */
export class DefinitionWords {
  private readonly known = new Map<string, { signature: string; words: ReadonlySet<WatchedWord> }>();

  /** Of the app's folder `base`, a real path inside the real path `root`. */
  async words(root: string, base: string): Promise<ReadonlySet<WatchedWord>> {
    const found = await findFiles(root, base, searches);
    const signature = contentVersion(found.map((file) => file.signature).join());
    const before = this.known.get(base);
    if (before?.signature === signature) return before.words;
    const files = await Promise.all(found.map((one) => readThemeFile(root, one)));
    const words = new Set(files.flatMap((file) => (file ? [...wordsIn(file)] : [])));
    if (!changedLately(found)) this.known.set(base, { signature, words });
    return words;
  }
}

/** An app of a site. */
export interface WatchedApp {
  site: Site;
  appId: string;
}

/** Milliseconds after which apps are looked at again; with thousands of apps, times as long as the look has taken. */
const INTERVAL = 4_000;
const FACTOR = 20;

interface WatchedAppsTools {
  sites(): Promise<Site[]>;
  apps(site: Site): Promise<[id: string, location: AppLocation][]>;
  words(location: AppLocation): Promise<ReadonlySet<WatchedWord>>;
  /** Whether what was found is taken for current for a time. */
  production: boolean;
}

/** Gives the apps of all sites whose definitions have one of some watched words. */
export function createWatchedApps({ sites, apps, words, production }: WatchedAppsTools) {
  let running: Promise<(WatchedApp & { words: ReadonlySet<WatchedWord> })[]> | undefined;
  let until = Number.POSITIVE_INFINITY;

  async function look() {
    const begun = performance.now();
    const found = [];
    for (const site of await sites())
      for (const [appId, location] of await apps(site)) found.push({ site, appId, words: await words(location) });
    const ended = performance.now();
    until = ended + Math.max(INTERVAL, FACTOR * (ended - begun));
    return found;
  }

  return async (wanted: readonly WatchedWord[]): Promise<WatchedApp[]> => {
    if (!running || !production || performance.now() >= until) {
      until = Number.POSITIVE_INFINITY;
      running = look();
      running.catch(() => {
        until = Number.NEGATIVE_INFINITY;
      });
    }
    return (await running).filter(({ words }) => wanted.some((word) => words.has(word)));
  };
}
