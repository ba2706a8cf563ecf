import { didYouMean } from '../did-you-mean';
import type { LogEntry } from '../logic/types';
import { folderOf } from './error-mark';
import { warnOfApp } from './notices';
import type { AppServices } from './run';
import type { App } from './types';

/** The result of looking up the names in an app's rights, and its time. */
const checked = new WeakMap<App, { notes: readonly LogEntry[]; at: number }>();

/** Milliseconds after which unknown names are looked up again: a role may have been made meanwhile. */
const RETRY = 30_000;

/**
 * Looks up, once for each revision of an app and without keeping the request waiting, whether the users and groups that
 * its rights name exist: a misspelt group silently locks everybody out.
 */
export function checkNames(services: AppServices, app: App): void {
  const known = checked.get(app);
  if (known && (known.notes.length === 0 || performance.now() - known.at < RETRY)) return;
  checked.set(app, { notes: known?.notes ?? [], at: performance.now() });
  const places = services.lookUpNames ? namesOf(app) : [];
  // If the database does not answer, the names are looked up again with the next revision.
  if (places.length > 0) lookUp(services, app, places).catch(() => undefined);
}

async function lookUp(services: AppServices, app: App, places: readonly NamePlace[]): Promise<void> {
  const found = await services.lookUpNames?.(places.map(({ name }) => name));
  const missing = places.filter(({ name }) => found?.unknown.includes(name));
  const notes = missing.map(({ name, file, line }): LogEntry => {
    const at = `${folderOf(services, app.id)}${file}${line === null ? '' : `:${line}`}`;
    const message = `${at}: no user and no role is called "${name}"${didYouMean(name, found?.roles ?? [])}`;
    return { app: app.id, block: null, line, message };
  });
  for (const { message } of notes) warnOfApp(services.logger, app, message);
  checked.set(app, { notes, at: performance.now() });
}

/** Console entries about unknown names. */
export const namesNotes = (app: App): readonly LogEntry[] => checked.get(app)?.notes ?? [];

interface NamePlace {
  name: string;
  file: string;
  line: number | null;
}

/** Every name in the app's rights, once, with the file that contains it. */
function namesOf({ settings, folder, blocks }: App): NamePlace[] {
  const { acl } = settings;
  const lists = acl ? [...Object.values(acl.rights), ...Object.values(acl.roles)] : [];
  const named = (names: readonly string[], file: string, text: string): NamePlace[] =>
    [...new Set(names)].filter((name) => name !== '*').map((name) => ({ name, file, line: lineOf(text, name) }));
  const ofSettings = named(lists.flat(), 'settings.yaml', folder.settings?.text ?? '');
  const ofBlocks = [...blocks.values()].flatMap(({ id, definition }) => {
    const file = folder.files.get(`blocks/${id}.yaml`) ?? folder.files.get(`blocks/${id}.yml`);
    return file ? named(definition.viewPermission ?? [], file.path, file.text) : [];
  });
  return [...ofSettings, ...ofBlocks].slice(0, MAX_PLACES);
}

/** Names that are looked up for an app, at most. */
const MAX_PLACES = 200;

function lineOf(text: string, name: string): number | null {
  const at = text.indexOf(name);
  return at < 0 ? null : text.slice(0, at).split('\n').length;
}
