import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, type Mock, vi } from 'vitest';
import { createSitesFrom, type SitesOptions } from '../sites';
import type { Site, Sites } from '../types';

export interface SitesTools {
  /** The path of a file below the themes' folder. */
  at(path: string): string;
  write(path: string, text?: string | Buffer): void;
  /** Two sites with the themes' folder: `site` with the theme `basic`, `other` with `dark`. */
  make(more?: Partial<SitesOptions>): Sites;
  siteOf(sites: Sites, id?: string): Promise<Site>;
  /** The text of a file of an app, as the sites read it. */
  textOf(sites: Sites, path: string, app?: string): Promise<string | undefined>;
  /** The warnings of the sites. */
  warn: Mock;
  /** The choices of the administrators. */
  settings: Map<string, unknown>;
}

/** A new folder of themes for each test, in which the theme `basic` has an app and an asset. */
export function useSites(): SitesTools {
  let directory: string;
  const warn = vi.fn();
  const settings = new Map<string, unknown>();
  const at = (path: string) => join(directory, path);
  const write = (path: string, text: string | Buffer = '') => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  const siteOf = async (sites: Sites, id = 'site') => (await sites.site(id)) as Site;

  beforeEach(() => {
    directory = realpathSync(mkdtempSync(join(tmpdir(), 'themes-')));
    write('basic/apps/rating/blocks/rate.html', 'one');
    write('basic/assets/a.css', 'css');
    warn.mockClear();
    settings.clear();
  });

  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  const make = (more: Partial<SitesOptions> = {}) =>
    createSitesFrom({
      config: {
        themesDirectory: directory,
        appsFolder: 'apps',
        sites: [
          { id: 'site', title: 'Site', theme: 'basic' },
          { id: 'other', title: 'Other', theme: 'dark' },
        ],
        content: {},
      },
      baseUrl: () => 'http://localhost:1337/',
      readContent: async () => null,
      settingStore: {
        keys: async () => new Set(settings.keys()),
        get: async (key) => settings.get(key) ?? null,
        set: async (key, value) => void settings.set(key, value),
        inTransaction: () => false,
      },
      contentTypes: () => [],
      logger: { warn },
      production: false,
      ...more,
    });

  return {
    at,
    write,
    make,
    siteOf,
    textOf: async (sites, path, app = 'rating') => (await sites.app(await siteOf(sites), app))?.files.get(path)?.text,
    warn,
    settings,
  };
}
