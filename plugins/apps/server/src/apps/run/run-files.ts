import { documentIdsIn, type TemporaryFile } from '../../files';
import type { AppKey, UnitObserver } from '../../records/types';
import type { AppServices, Visit } from './types';

/**
 * Ends an attempt whose record names files that are not in the media library yet: they are put there while nothing waits,
 * and the attempt runs again (docs/decisions/files.md).
 */
export class FilesNeeded extends Error {
  constructor(
    readonly files: readonly TemporaryFile[],
    /** The folder of the media library for a field. */
    readonly folderOf: (field: string) => string | undefined,
  ) {
    super('files must be stored first');
  }
}

/** Files that the records of one attempt name, and those that they no longer name. */
export class FileChanges implements UnitObserver {
  readonly named = new Set<string>();
  private readonly dropped: { key: AppKey; id: string }[] = [];

  readonly onItems: UnitObserver['onItems'] = (key, before, after) => {
    const now = new Set(documentIdsIn(after));
    for (const id of now) this.named.add(id);
    for (const id of documentIdsIn(before)) if (!now.has(id)) this.dropped.push({ key, id });
  };

  /** After the commit. */
  async finish({ files }: AppServices, visit: Visit): Promise<void> {
    await visit.files?.finish(this.named);
    const byApp = new Map<string, { key: AppKey; ids: string[] }>();
    for (const { key, id } of this.dropped) {
      const name = `${key.site}\n${key.app}`;
      const entry = byApp.get(name) ?? { key, ids: [] };
      entry.ids.push(id);
      byApp.set(name, entry);
    }
    for (const { key, ids } of byApp.values()) await files.release(key, ids);
  }
}
