import { contentVersion } from '../../common/content-version';
import type { Awaitable } from '../../common/time/awaitable';
import type { ThemeFile } from '../types';
import { type FoundFile, findFiles, readThemeFile, type Search } from './theme-files';

/** Files of a folder at one moment: either all old or all new. */
export interface Snapshot {
  /** Hash of all paths and texts. */
  revision: string;
  files: ReadonlyMap<string, ThemeFile>;
}

/** A file changed twice within this time may keep its time stamp, so that only reading it again can tell. */
const UNSETTLED_MS = 100;
/** Reads of a folder while its files change; after the last one its files are used although they may differ in age. */
const MAX_READS = 5;

interface Kept {
  snapshot: Snapshot;
  signature: string;
  /** When it was last known to be current, by `performance.now()`. */
  checkedAt: number;
  /** False when a file had changed right before it was read. */
  settled: boolean;
}

/** Keeps snapshots of folders and renews them when a file has changed; equal content is the same object. */
export class Snapshots {
  private readonly kept = new Map<string, Kept>();
  private readonly checking = new Map<string, Promise<Snapshot>>();

  /** A snapshot is taken for current for `maxAge` milliseconds after it was checked. */
  constructor(
    private readonly searches: readonly Search[],
    private readonly maxAge: number,
  ) {}

  /** The files of the folder `base`, a real path inside the real path `root`. */
  get(root: string, base: string): Awaitable<Snapshot> {
    const kept = this.kept.get(base);
    if (kept && this.maxAge > 0 && performance.now() - kept.checkedAt < this.maxAge) return kept.snapshot;
    // Without a throttle (in development) a check that began before the last change must not answer for it.
    if (this.maxAge === 0) return this.check(root, base);
    let check = this.checking.get(base);
    if (!check) {
      check = this.check(root, base).finally(() => this.checking.delete(base));
      this.checking.set(base, check);
    }
    return check;
  }

  private async check(root: string, base: string): Promise<Snapshot> {
    const checkedAt = performance.now();
    let found = await findFiles(root, base, this.searches);
    let signature = signatureOf(found);
    const kept = this.kept.get(base);
    if (kept?.settled && kept.signature === signature) {
      kept.checkedAt = checkedAt;
      return kept.snapshot;
    }
    let files: ThemeFile[] = [];
    let settled = false;
    for (let reading = 0; reading < MAX_READS; reading += 1) {
      const read = await Promise.all(found.map((file) => readThemeFile(root, file)));
      files = read.filter((file) => file !== null);
      // A file that was found and cannot be read was replaced meanwhile, which its signature need not show.
      const whole = files.length === read.length;
      found = await findFiles(root, base, this.searches);
      const after = signatureOf(found);
      settled = whole && after === signature && !changedLately(found);
      if (whole && after === signature) break;
      signature = after;
    }
    return this.keep(base, { files, signature, checkedAt, settled });
  }

  private keep(base: string, { files, ...rest }: Omit<Kept, 'snapshot'> & { files: ThemeFile[] }): Snapshot {
    const revision = revisionOf(files);
    const known = this.kept.get(base)?.snapshot;
    const snapshot =
      known?.revision === revision ? known : { revision, files: new Map(files.map((file) => [file.path, file])) };
    this.kept.set(base, { snapshot, ...rest });
    return snapshot;
  }
}

function signatureOf(files: FoundFile[]): string {
  return files.map(({ path, signature }) => `${path}:${signature}`).join('\n');
}

function changedLately(files: FoundFile[]): boolean {
  const recent = (BigInt(Date.now()) - BigInt(UNSETTLED_MS)) * 1_000_000n;
  return files.some(({ signature }) => BigInt(signature.slice(signature.lastIndexOf(':') + 1)) > recent);
}

/** Hash of all paths and texts. */
export function revisionOf(files: ThemeFile[]): string {
  return contentVersion(JSON.stringify(files.map(({ path, text, problem }) => [path, text, problem ?? null])));
}
