import type { Json } from '../../../../shared/json';
import { contentVersion } from '../../common/assets';
import type { ThemeFile } from '../../sites';
import { computeElement } from '../blocks/saving/record-operations';
import { readThemeInfo } from '../definitions/app';
import { type ElementRole, roleOf } from '../elements';
import { redirectOf } from '../run/response';
import { withRun } from '../run/run';
import type { AppServices, Visit } from '../run/types';
import { permittedBlock } from '../run/visits';
import type { App } from '../types';
import { embeddingPage, type ShownInPage } from './embed';
import { contentHtml, themedPage } from './embed-page';
import { type CacheState, type Exact, exactly, type Recipe } from './exact';
import { filledIn, type Parts, partsOf } from './observed';

/** A page of the site for a visitor. */
interface SitePage {
  body: string;
  /** The version of its text, if it is known: that of a kept page without anything of its visitor alone. */
  version: string | null;
  cache: CacheState;
  /** Whether one of its apps is in debug mode. */
  isDebugged: boolean;
  /** Its blocks; none of a kept page. */
  blocks: readonly ShownInPage[];
  /** Seconds for which a proxy may keep it, if the theme says so. */
  sharedAge: number | null;
}

interface Page {
  body: string;
  /** Whether a part of it failed, or has a message for its developer. */
  isComplete: boolean;
  isDebugged: boolean;
  blocks: readonly ShownInPage[];
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
  const hasMessages = visit.flash !== undefined && !visit.flash.isEmpty();
  let version: string | null = null;
  let blocks: readonly ShownInPage[] = [];
  const recipe: Recipe<Page, KeptPage> = {
    name: 'page',
    app: null,
    // A message is shown once.
    isOn: !hasMessages,
    async make(by, as) {
      const value = await newPage(by, as);
      ({ blocks } = value);
      return { value, ...nothingRan };
    },
    async toKept({ body, isDebugged }) {
      const parts = partsOf(body);
      return { parts, isDebugged, version: parts.length === 1 ? contentVersion(body) : null, size: body.length };
    },
    fromKept(kept, to) {
      ({ version } = kept);
      return { body: filledIn(kept.parts, to), isComplete: true, isDebugged: kept.isDebugged, blocks };
    },
    sizeOf: ({ size }) => size,
    refusal: ({ isComplete }) => (isComplete ? null : 'failed'),
  };
  const { ran, cache, looked } = await exactly(services, visit, recipe);
  const { body, isDebugged, isComplete } = ran.value;
  // What has failed may be right a moment later.
  const age = isComplete ? await sharedAgeOf(services, visit) : null;
  const sharedAge = age !== null && looked !== null && isSameForAll(looked) ? age : null;
  return { body, version, cache, isDebugged, blocks, sharedAge };
}

/** Headers by which caches tell pages of the site apart. */
export const variedHeaders = ['Authorization', 'Cookie', 'Accept', 'X-Requested-With'];

const ofAllHeaders = 'request.headers';
const variedNames = new Set(variedHeaders.map((name) => `${ofAllHeaders}.${name.toLowerCase()}`));

/** Whether a page depends on no header of the request that caches do not tell it by. @param looked parts of the request that it has read */
function isSameForAll(looked: ReadonlySet<string>): boolean {
  for (const name of looked) if (name.startsWith(ofAllHeaders) && !variedNames.has(name)) return false;
  return true;
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
  const isComplete = page.notes.length === 0 && page.failures.length === 0;
  return { body, isComplete, isDebugged: page.isDebugged(), blocks: page.shown };
}

/** The value of an element that is asked for by its own address. */
interface ShownElement {
  value: Json;
  role: ElementRole | undefined;
  /** Where an action leads to. */
  leadsTo: string | null;
}

interface KeptElement extends ShownElement {
  /** The value as JSON, where it has something of its visitor. */
  parts: Parts | null;
  size: number;
}

/**
 * An element of a block as a GET has it: a kept value that is the same as a new one, or a new one. Errors as of `computeElement` and
 * `permittedBlock`.
 */
export function shownElement(
  services: AppServices,
  visit: Visit,
  app: App,
  target: { block: string; element: string },
): Promise<Exact<ShownElement>> {
  const recipe: Recipe<ShownElement, KeptElement> = {
    name: `element ${target.block}/${target.element}`,
    app,
    isOn: app.blocks.get(target.block)?.definition.cache !== false,
    make: (by, as, seen) =>
      withRun(by, as, app, async (run) => {
        const block = permittedBlock(run, target.block);
        const { value } = await computeElement(run, block, target.element);
        const role = roleOf(block.definition.elements.get(target.element));
        seen(run);
        return { value, role, leadsTo: role === 'action' ? redirectOf(run, value) : null };
      }),
    async toKept(shown) {
      const text = JSON.stringify(shown.value);
      const parts = partsOf(text);
      return { parts: parts.length > 1 ? parts : null, size: text.length, ...shown };
    },
    fromKept: ({ parts, size: _, ...shown }, to) =>
      parts ? { ...shown, value: JSON.parse(filledIn(parts, to)) as Json } : shown,
    sizeOf: ({ size }) => size,
    refusal: ({ role, leadsTo }) => (role === 'action' || leadsTo !== null ? 'redirect' : null),
  };
  return exactly(services, visit, recipe);
}
