import { contentVersion } from '../../common/content-version';
import type { ThemeFile } from '../../sites';
import { readThemeInfo } from '../definitions/theme';
import { type CacheState, exactly, type Recipe } from '../renderings/exact';
import { filledIn, type Parts, partsOf } from '../renderings/placeholders';
import type { AppServices, Visit } from '../run/types';
import { embeddingPage } from './embed';
import { contentHtml, themedPage } from './embed-page';

/** A page of the site for a visitor. */
export interface SitePage {
  body: string;
  /** The version of its text, if it is known: that of a kept page without anything of its visitor alone. */
  version: string | null;
  cache: CacheState;
  /** Whether one of its apps is in debug mode. */
  isDebugged: boolean;
  /** Seconds for which a proxy may keep it, if the theme says so. */
  sharedAge: number | null;
}

interface Page {
  body: string;
  /** Whether a part of it failed, or has a message for its developer. */
  isComplete: boolean;
  isDebugged: boolean;
}

interface KeptPage {
  isDebugged: boolean;
  parts: Parts;
  version: string | null;
  size: number;
}

/**
 * The page of a visit's content item in the site's theme (docs/reference/site.md#pages): a kept one that is the same as a new one, or
 * a new one.
 */
export async function contentPage(services: AppServices, visit: Visit): Promise<SitePage> {
  const hasMessages = visit.flash !== undefined && !visit.flash.isEmpty;
  let version: string | null = null;
  const recipe: Recipe<Page, KeptPage> = {
    name: 'page',
    app: null,
    // A message is shown once.
    isOn: !hasMessages,
    make: async (by, as) => ({ ...nothingRan, value: await newPage(by, as) }),
    async toKept({ body, isDebugged }) {
      const parts = partsOf(body);
      return { parts, isDebugged, version: parts.length === 1 ? contentVersion(body) : null, size: body.length };
    },
    fromKept(kept, to) {
      ({ version } = kept);
      return { body: filledIn(kept.parts, to), isComplete: true, isDebugged: kept.isDebugged };
    },
    sizeOf: ({ size }) => size,
    refusal: ({ isComplete }) => (isComplete ? null : 'failed'),
  };
  const { ran, cache } = await exactly(services, visit, recipe);
  const { body, isDebugged } = ran.value;
  return { body, version, cache, isDebugged, sharedAge: await sharedAgeOf(services, visit) };
}

/** A broken theme.yaml counts as empty; the panel shows its error. */
async function sharedAgeOf({ sites }: AppServices, { site }: Visit): Promise<number | null> {
  const file = (await sites.theme(site))?.files.get('theme.yaml');
  if (!file) return null;
  const known = sharedAges.get(file);
  if (known !== undefined) return known;
  let age: number | null = null;
  try {
    age = readThemeInfo(file).s_maxage ?? null;
  } catch {}
  sharedAges.set(file, age);
  return age;
}

/** Of each theme.yaml that was read; an unchanged file is the same object. */
const sharedAges = new WeakMap<ThemeFile, number | null>();

const nothingRan = {
  response: { status: null, headers: {}, redirect: null },
  logs: [],
  console: [],
  flashes: [],
};

async function newPage(services: AppServices, visit: Visit): Promise<Page> {
  const page = embeddingPage(services, visit);
  const theme = await services.sites.theme(visit.site);
  const main = await contentHtml(page, theme);
  visit.inputs?.look('content');
  const canonical = `${visit.site.url}/${visit.contentPath}`;
  const body = await themedPage(page, theme, { title: visit.content.title, main, canonical });
  return { body, isComplete: page.notes.length === 0 && page.failures.length === 0, isDebugged: page.isDebugged };
}
