import type { RecordTools } from '../../server/src';
import type { IndexDeclarations } from '../../server/src/indexes/types';
import type { DeclaredItems, ItemKind } from '../../server/src/interchange';
import type { AppKey, NewRecord, RecordStore } from '../../server/src/records/types';
import { CannotRun, exitCodes, type RunCommand } from './command';
import { type Host, type LoadedStrapi, withStrapi } from './host';

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
const withStore = <T>(host: Host, work: (store: RecordStore) => Promise<T>): Promise<T> =>
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

/** Compares all records with their index rows (docs/operate/storage.md#indexes). */
export const check: RunCommand = async ({ options, output, host }) => {
  const repair = options.repair === true;
  const { records, wrong, orphanTables } = await withStore(host(), (store) => store.check({ repair }));
  const isWrong = wrong + orphanTables > 0;
  const found = `${records} records compared, ${wrong} wrong, ${orphanTables} orphaned index tables`;
  output.line(isWrong ? `${found}: ${repair ? 'repaired' : 'run it with --repair'}` : found);
  output.data({ records, wrong, orphanTables, repaired: isWrong && repair });
  return isWrong && !repair ? exitCodes.problems : exitCodes.fine;
};

/** Milliseconds between two readings of the progress. */
const INTERVAL = 200;

/** Declares the indexes of an app again and indexes all its records (docs/reference/json-interface.md#re-index). */
export const reindex: RunCommand = async ({ args, options, output, host }) => {
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
