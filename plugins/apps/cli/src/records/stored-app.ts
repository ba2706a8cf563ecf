import type { RecordTools } from '../../../server/src';
import type { IndexDeclarations } from '../../../server/src/indexes/types';
import type { DeclaredItems, ItemKind } from '../../../server/src/interchange';
import type { AppKey, NewRecord, RecordStore } from '../../../server/src/records/types';
import { CannotRun } from '../exit';
import { type Host, type LoadedStrapi, withStrapi } from '../host';

/** An app whose records are in the database of a host. */
export interface StoredApp {
  store: RecordStore;
  key: AppKey;
  indexes: IndexDeclarations;
  /** What its definitions say about items. */
  declared: DeclaredItems<ItemKind>;
  /** Reads a workbook. */
  sheet: RecordTools['sheet'];
  /** Whether each of its records names a block. */
  strict: boolean;
  /** Creates records by the rules of their blocks, or only checks them (RecordTools). */
  create(records: readonly NewRecord[], isDropped: boolean, tally?: Map<string, number>): Promise<number>;
}

const toolsOf = (strapi: LoadedStrapi) => strapi.plugin('apps').service('records') as RecordTools;

/** Runs `work` with the records of the host's database (docs/reference/command-line.md#the-host). */
export const withStore = <T>(host: Host, work: (store: RecordStore) => Promise<T>): Promise<T> =>
  withStrapi(host, (strapi) => work(toolsOf(strapi).store()));

/** Runs `work` with the records of one app. Throws CannotRun when the site has no such app. */
export function withApp<T>(host: Host, site: string, app: string, work: (stored: StoredApp) => Promise<T>): Promise<T> {
  return withStrapi(host, async (strapi) => {
    const tools = toolsOf(strapi);
    const found = await tools.app(site, app);
    if (!found) throw new CannotRun(`There is no app "${app}" in a site "${site}"`);
    const create: StoredApp['create'] = (...given) => tools.create(site, app, ...given);
    return work({ store: tools.store(), create, sheet: tools.sheet, ...found });
  });
}
