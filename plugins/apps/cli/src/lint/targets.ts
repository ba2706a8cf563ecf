import { didYouMean } from '../../../server/src/common/did-you-mean';
import type { Site } from '../../../server/src/sites/types';
import { CannotRun } from '../exit';
import type { ThemePlace } from '../themes';
import type { LintServices } from './services';

/** A theme to check. */
export interface Target {
  place: ThemePlace;
  site: Site;
  /** Ids of its own apps that are checked. */
  apps: string[];
  /** Whether its own files are checked too. */
  whole: boolean;
}

/** All that a theme has: each app is checked in the theme that holds it, not where a link leads to it. */
async function wholeTheme({ sites }: LintServices, place: ThemePlace): Promise<Target> {
  const site = (await sites.site(place.id)) as Site;
  const own = await Promise.all(
    (await sites.apps(site)).map(async (id) => ((await sites.app(site, id))?.themeId === place.id ? [id] : [])),
  );
  return { place, site, apps: own.flat(), whole: true };
}

/**
 * What an argument of the command names: a theme, an app in any theme, `<theme>/<app>`, or everything without one.
 * Throws CannotRun for a name that no theme and no app has.
 */
export async function targetsOf(
  services: LintServices,
  places: readonly ThemePlace[],
  wanted: string | undefined,
): Promise<Target[]> {
  const themes = await Promise.all(places.map((place) => wholeTheme(services, place)));
  if (wanted === undefined) return themes;
  const [theme, app, ...rest] = wanted.split('/');
  const named = themes.filter(({ place }) => place.id === theme && app === undefined);
  if (named.length > 0) return named;
  const holders = themes.filter(({ place, apps }) =>
    app === undefined ? apps.includes(wanted) : place.id === theme && apps.includes(app),
  );
  if (holders.length > 0 && rest.length === 0)
    return holders.map((holder) => ({ ...holder, apps: [app ?? wanted], whole: false }));
  const known = themes.flatMap(({ place, apps }) => [place.id, ...apps, ...apps.map((id) => `${place.id}/${id}`)]);
  throw new CannotRun(`There is no theme and no app "${wanted}"${didYouMean(wanted, known)}`);
}
