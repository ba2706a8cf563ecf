/** Apps that have series of their own in a process; those beyond are counted together as `other`. */
export const MAX_APPS = 100;

/** The app that an observation is about; null: none, or none that exists. */
export type About = { site: string; app: string } | null;

/** Labels of an app. */
export type AppLabels = { site: string; app: string };

/** Statuses with a series of their own: those of the plugin itself. Logic may set others, which are counted by their hundred. */
const statuses = new Set([
  ...[200, 201, 204, 206, 303, 304],
  ...[400, 401, 403, 404, 405, 406, 409, 412, 413, 415, 422, 429],
  ...[500, 502, 503, 504],
]);

/** The label of a status, e.g. `404` or `4xx`. */
export const statusLabel = (status: number): string =>
  statuses.has(status) ? String(status) : `${Math.floor(status / 100)}xx`;

/** Makes labels of apps. Only apps that were found may be given: no label is made of an address. */
export function appLabels(max = MAX_APPS): (about: About) => AppLabels {
  const known = new Map<string, AppLabels>();
  const none = { site: '', app: '' };
  return (about) => {
    if (!about) return none;
    const { site, app } = about;
    const key = `${site}/${app}`;
    const labels = known.get(key);
    if (labels) return labels;
    if (known.size >= max) return { site, app: 'other' };
    const made = { site, app };
    known.set(key, made);
    return made;
  };
}
