import type { Core } from '@strapi/strapi';
import type { FetchCall, JobState, StoredJob } from '../index';

/** `service('tests')` of the plugin: server/src/app-tests.ts. */
export interface TestTools {
  setClock(time: number | null): void;
  /** What answers calls out of apps; null: they are made. */
  setAnswerer(answerer: Answerer | null): void;
  clearRenderings(): void;
  runJobs(): Promise<number>;
  forgetSchedules(): Promise<void>;
  jobs(key: Key, state?: JobState): Promise<StoredJob[]>;
  site(siteId?: string): Promise<{ id: string; url: string; theme: string; apps: TestableApp[] } | null>;
  pathOf(siteId: string, uid: string, documentId: string, locale?: string): Promise<string | null>;
}

/** server/src/outbound/request.ts. */
export type Answerer = (
  appId: string,
  call: FetchCall,
) => { status: number; headers: Record<string, string>; text: string } | null;

export interface TestableApp {
  id: string;
  folder: string;
  url: string;
}

interface Key {
  site: string;
  app: string;
}

export interface Row {
  id: string;
  items: Record<string, unknown>;
}

/** `service('records')` of the plugin: server/src/records/types.ts. */
export interface RecordTools {
  store(): {
    get(key: Key, id: string): Promise<Row | null>;
    search(key: Key, indexes: unknown, options: object): Promise<{ records: Row[] }>;
    count(key: Key, indexes: unknown, query?: string, names?: object): Promise<number>;
    clear(key: Key): Promise<void>;
    transact<T>(work: (unit: { create(key: Key, record: object): Promise<Row> }) => Promise<T>): Promise<T>;
  };
  app(siteId: string, appId: string): Promise<{ key: Key; indexes: unknown } | null>;
}

/** The tested plugin is that of the host, which may be another copy than this program's own. */
export function pluginOf(strapi: Core.Strapi): { tools: TestTools; records: RecordTools } {
  const plugin = strapi.plugin('apps');
  return { tools: plugin.service('tests') as TestTools, records: plugin.service('records') as RecordTools };
}
