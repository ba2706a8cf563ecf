import { join } from 'node:path';
import type { JobSummary, JobView } from '../../shared/admin-api';
import type { Items } from '../../shared/json';
import { clearRenderings } from './apps';
import type { HttpServices } from './http';
import { summaryOf, viewFilters } from './jobs';
import type { Answerer } from './outbound';
import type { AppKey } from './records/types';
import type { Site } from './sites/types';

/** An app of a site, for its tests. */
export interface TestableApp {
  id: string;
  /** Absolute path of its folder. */
  folder: string;
  /** URL of the app at the site's root. */
  url: string;
}

/** A job of an app, for its tests. */
export interface TestedJob
  extends Pick<JobSummary, 'id' | 'kind' | 'name' | 'attempts' | 'dueAt' | 'status' | 'error'> {
  state: JobView;
  /** What it was given. */
  data: Items;
}

/** Jobs that are listed. */
const MAX_JOBS = 1_000;

/**
 * `strapi.plugin('apps').service('tests')`: what the tests of apps need of the running plugin besides its addresses
 * (docs/reference/app-tests.md). Only `npx strapi-plugin-apps test` uses it.
 */
export function createTestTools(services: () => HttpServices) {
  let stoppedAt: number | null = null;
  let answerer: Answerer | null = null;
  const find = async (id?: string): Promise<Site | null> => {
    const { sites, config } = services();
    return (await sites.site(id ?? config.sites[0]?.id ?? '')) ?? null;
  };
  return {
    /** The time at which the clock of logic stands still, in milliseconds since 1970; null: it runs. */
    now: () => stoppedAt,

    /** Stops the clock of logic at a time, or lets it run. */
    setClock(time: number | null): void {
      stoppedAt = time;
    },

    /** What answers calls out in place of other hosts; null: they are made. */
    answerer: () => answerer,

    setAnswerer(next: Answerer | null): void {
      answerer = next;
    },

    /** Forgets renderings that visitors share: they would be shown in later tests. */
    clearRenderings: () => clearRenderings(services()),

    /** Does the jobs of all apps that are due, those of due ticks too. @returns the tries that were made, those that send mails left out */
    async runJobs(): Promise<number> {
      const { jobs, schedules } = services();
      for (let all = 0; ; ) {
        // A schedule whose job has not ended has its next tick after that.
        await schedules.tick();
        const tries = await jobs.runDue();
        if (tries === 0) return all;
        all += tries;
      }
    },

    /** Begins all schedules again: the first tick may be at the time of the next `runJobs`. */
    forgetSchedules: () => services().schedules.forget(),

    /** The latest jobs of an app, the earliest of them first; of one state, or of all. */
    async jobs(key: AppKey, view?: JobView): Promise<TestedJob[]> {
      const filter = { ...key, ...(view && viewFilters[view]) };
      const { jobs } = await services().jobs.list(filter, { limit: MAX_JOBS });
      return jobs.reverse().map((job) => {
        const { id, kind, name, view: state, attempts, dueAt, status, error } = summaryOf(job);
        return { id, kind, name, state, attempts, dueAt, status, error, data: job.data };
      });
    },

    /** A site and the apps of its active theme; null if there is no such site. Without an id, the default site. */
    async site(siteId?: string): Promise<{ id: string; url: string; theme: string; apps: TestableApp[] } | null> {
      const { sites, config } = services();
      const site = await find(siteId);
      if (!site) return null;
      const ids = await sites.apps(site);
      const apps = ids.map(async (id): Promise<TestableApp[]> => {
        const found = await sites.app(site, id);
        if (!found) return [];
        const folder = join(config.themesDirectory, found.themeId, config.appsFolder, id);
        return [{ id, folder, url: sites.urls.app(site, id) }];
      });
      return { id: site.id, url: site.url, theme: site.theme, apps: (await Promise.all(apps)).flat() };
    },

    /** Where the site shows an entry, as a path below the site; null where it shows none, or where anonymous may not read it. */
    async pathOf(siteId: string, uid: string, documentId: string, locale?: string): Promise<string | null> {
      const { sites, requesters } = services();
      const site = await find(siteId);
      const item = site && (await sites.content.find(site, { uid, documentId, locale }, await requesters.anonymous()));
      return item?.path ?? null;
    },
  };
}
