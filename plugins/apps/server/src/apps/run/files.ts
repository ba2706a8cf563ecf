import type { OwnFile } from '../../common/assets';
import { chunks } from '../../common/collections';
import { OwnValue } from '../../common/request-objects';
import {
  documentIdsIn,
  type FilePlace,
  type Files,
  type RequestFiles,
  type ShownFile,
  type StoredFile,
  type TemporaryFile,
} from '../../files';
import { mayNameFiles, withOtherItems } from '../../records';
import type { AppKey, StoredRecord, UnitObserver } from '../../records/types';
import type { Site } from '../../sites/types';
import { fileFields, placeFor } from '../elements';
import { scriptWords } from '../locales';
import type { Block } from '../types';
import type { AppServices, Run, Visit } from './types';
import { siteLocale } from './visits';

/** Files looked up in one attempt at a request, by app and document id; null: the library has it no more. */
const lookedUp = new OwnValue<Run['unit'], Map<string, ShownFile | null>>('files');

/**
 * Records whose files have the addresses at which they are now, for all records with one look-up. A record without files is
 * returned unchanged, and costs none.
 */
export function shownRecords(files: Files, key: AppKey, records: readonly StoredRecord[]): Promise<StoredRecord[]> {
  return withAddresses(files, records, (documentIds) => files.addresses.find(key, documentIds));
}

/** The same within a run, where files are looked up once. @param app whose records they are */
export async function shownInRun(run: Run, app: string, records: readonly StoredRecord[]): Promise<StoredRecord[]> {
  const { files } = run.services;
  const key = { site: run.visit.site.id, app };
  const known = lookedUp.getOrMake(run.unit, () => new Map());
  const nameOf = (documentId: string) => `${app}\n${documentId}`;
  return withAddresses(files, records, async (documentIds) => {
    const missing = documentIds.filter((documentId) => !known.has(nameOf(documentId)));
    if (missing.length > 0) {
      const loaded = await run.unit.alongside(() => files.addresses.find(key, missing));
      for (const one of missing) known.set(nameOf(one), loaded.get(one) ?? null);
    }
    const found = new Map<string, ShownFile>();
    for (const documentId of documentIds) {
      const file = known.get(nameOf(documentId));
      if (file) found.set(documentId, file);
    }
    if ([...found.values()].some(({ isSigned }) => isSigned)) run.visit.onSigned();
    return found;
  });
}

/** One record, or null. */
export async function shownRecord<T extends StoredRecord | null>(run: Run, record: T, app = run.app.id): Promise<T> {
  return record && ((await shownInRun(run, app, [record]))[0] as T);
}

/** Records whose files are looked up together. */
const AT_ONCE = 500;

/** Files that are looked up for so many records: a client may write a record of thousands. Others keep the stored address. */
export const MAX_LOOKED_UP = 10_000;

type Find = (documentIds: readonly string[]) => Promise<ReadonlyMap<string, ShownFile>>;

async function withAddresses(files: Files, records: readonly StoredRecord[], find: Find): Promise<StoredRecord[]> {
  const shown: StoredRecord[] = [];
  for (const some of chunks(records, AT_ONCE)) shown.push(...(await ofSome(files, some, find)));
  return shown;
}

async function ofSome({ addresses }: Files, records: readonly StoredRecord[], find: Find): Promise<StoredRecord[]> {
  const wanted = new Set<string>();
  const named = new Set<StoredRecord>();
  for (const record of records) {
    const documentIds = mayNameFiles(record) ? documentIdsIn(record.items) : [];
    if (documentIds.length > 0) named.add(record);
    for (const documentId of documentIds) if (wanted.size < MAX_LOOKED_UP) wanted.add(documentId);
  }
  if (named.size === 0) return [...records];
  const found = await find([...wanted]);
  return records.map((record) =>
    named.has(record) ? withOtherItems(record, addresses.put(record.items, found)) : record,
  );
}

/**
 * Ends an attempt whose record names files that are not stored yet: they are stored while nothing waits, and the attempt runs
 * again (docs/decisions/files.md).
 */
export class FilesNeeded extends Error {
  constructor(
    readonly files: readonly TemporaryFile[],
    /** Where the files of a field are stored. */
    readonly placeOf: (field: string) => FilePlace,
  ) {
    super('files must be stored first');
  }
}

/** FilesNeeded where one of the files is not stored yet. @param isDraft whether they are stored privately for now */
export function requireStored(
  block: Block,
  submitted: readonly (StoredFile | TemporaryFile)[],
  request: RequestFiles | undefined,
  isDraft = false,
): void {
  const needed = submitted.filter((file): file is TemporaryFile => 'token' in file && !request?.stored(file));
  const fields = fileFields(block.definition);
  const placeOf = (field: string) => {
    const element = fields.get(field);
    const { isPublic, folder } = element ? placeFor(element) : { isPublic: false, folder: undefined };
    return { isPublic: isPublic && !isDraft, folder };
  };
  if (needed.length > 0) throw new FilesNeeded(needed, placeOf);
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

  /** What was stored by other means than a record, such as a draft, names files: those after the change, and no longer those before. */
  handOver(key: AppKey, before: readonly StoredFile[], after: readonly StoredFile[]): void {
    for (const { documentId } of after) this.named.add(documentId);
    for (const { documentId: id } of before) if (!this.named.has(id)) this.dropped.push({ key, id });
  }

  /** After the commit. */
  async finish({ files }: AppServices, visit: Visit): Promise<void> {
    if (visit.files) await visit.files.finish(this.named);
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

type Services = Pick<AppServices, 'sites' | 'ownFiles'>;

/** The query of an address whose answer may be cached for ever, because it names the content (docs/reference/http.md#caching). */
const versioned = (url: string, version: string | null): string => (version === null ? url : `${url}?v=${version}`);

/** The browser script in the words of a site. */
export async function browserScript(services: Services, site: Site): Promise<OwnFile> {
  return services.ownFiles.script(scriptWords(await siteLocale(services, site)));
}

/** Makes the plugin's own files that pages name by the filter `asset_url`. */
const ownFiles: { [name: string]: (services: Services, site: Site) => Promise<OwnFile> } = {
  '@@apps.js': browserScript,
  '@@apps.css': ({ ownFiles }) => ownFiles.file('apps.css'),
};

/** The address of the browser script with its version; without one while the file is missing. */
export const scriptUrl = (services: Services, site: Site): Promise<string> => ownUrl(services, site, '@@apps.js');

async function ownUrl(services: Services, site: Site, name: string): Promise<string> {
  const file = await ownFiles[name]?.(services, site).catch(() => null);
  return versioned(`${site.url}/${name}`, file?.version ?? null);
}

/**
 * Liquid's filter `asset_url` in files of a theme, or of an app in it: the address of a public file with the version of its
 * content, without one where there is no such file.
 */
export function assetUrls(services: Services, site: Site, from: { theme: string; app?: string }) {
  return async (path: string): Promise<string> => {
    if (path.startsWith('@@')) return ownUrl(services, site, path);
    const asset = { ...from, path };
    return versioned(services.sites.urls.asset(site, asset), await services.sites.assetVersion(asset));
  };
}
