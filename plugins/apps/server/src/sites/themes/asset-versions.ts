import type { BigIntStats } from 'node:fs';
import { LRUCache } from 'lru-cache';
import { contentVersion } from '../../common/content-version';
import type { OpenFile } from './open-inside';
import { readBounded } from './theme-files';

/** Bytes of the largest public file that has a version: it is read as a whole for each. */
const MAX_VERSIONED = 2 * 1024 * 1024;

/** The content of an open file and its version, or null if the file is too large to have one. Leaves the file open. */
export async function versionedContent({ handle }: OpenFile): Promise<{ bytes: Buffer; version: string } | null> {
  const bytes = await readBounded(handle, MAX_VERSIONED);
  return bytes && { bytes, version: contentVersion(bytes) };
}

interface Kept {
  version: string | null;
  signature: string;
  checkedAt: number;
}

/** Public files whose versions are kept. */
const MAX_KEPT = 2_000;

/**
 * Versions of public files, by a key. A version that is no longer current does no harm: its address is answered with the current
 * file, which is then not cached.
 * @param maxAge milliseconds for which a version is taken for current
 */
export function createAssetVersions(maxAge: number) {
  const kept = new LRUCache<string, Kept>({ max: MAX_KEPT });

  return async (key: string, open: () => Promise<OpenFile | null>): Promise<string | null> => {
    const known = kept.get(key);
    const checkedAt = performance.now();
    if (known && checkedAt - known.checkedAt < maxAge) return known.version;
    const file = await open();
    try {
      const signature = file && signatureOf(file.info);
      if (!signature) return null;
      const version =
        known?.signature === signature ? known.version : ((await versionedContent(file))?.version ?? null);
      kept.set(key, { version, signature, checkedAt });
      return version;
    } finally {
      await file?.handle.close();
    }
  };
}

const signatureOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(':');
