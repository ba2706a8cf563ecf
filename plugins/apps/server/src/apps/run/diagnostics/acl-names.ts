import { positioned } from '../../../../../shared/positions';
import type { KnownNames } from '../../../auth';
import { didYouMean } from '../../../common/did-you-mean';
import type { LogEntry } from '../../../logic/types';
import type { App } from '../../types';
import type { AppServices } from '../types';
import { folderOf } from './error-mark';
import { warnOfApp } from './notices';

/** Results of looking up the names in apps' rights, with their time. */
const checked = new WeakMap<App, { notes: readonly LogEntry[]; at: number }>();

/** Milliseconds after which unknown names are looked up again, because a role may have been created. */
const RETRY = 30_000;

/**
 * Looks up, once for each revision of an app and in the background, whether the users and groups in its rights exist: a
 * misspelt group silently locks all its members out.
 */
export function checkNames(services: AppServices, app: App): void {
  const known = checked.get(app);
  if (known && (known.notes.length === 0 || performance.now() - known.at < RETRY)) return;
  checked.set(app, { notes: known?.notes ?? [], at: performance.now() });
  const occurrences = services.lookUpNames ? namesInRights(app) : [];
  // If the database does not answer, the names are looked up again with the next revision.
  if (occurrences.length > 0) lookUp(services, app, occurrences).catch(() => undefined);
}

async function lookUp(services: AppServices, app: App, occurrences: readonly NameOccurrence[]): Promise<void> {
  const found = await services.lookUpNames?.(occurrences.map(({ name }) => name));
  const missing = found ? occurrences.filter((one) => isUnknown(one, found)) : [];
  const notes = missing.map(({ name, file, line, isRole }): LogEntry => {
    const message = `no ${isRole ? 'role' : 'user and no role'} is called "${name}"${didYouMean(name, found?.roles ?? [])}`;
    const text = positioned(message, { file, line }, folderOf(services, app.id));
    return { app: app.id, block: null, line, message: text };
  });
  for (const { message } of notes) warnOfApp(services.logger, app, message);
  checked.set(app, { notes, at: performance.now() });
}

/** Console entries about unknown names. */
export const namesNotes = (app: App): readonly LogEntry[] => checked.get(app)?.notes ?? [];

export interface NameOccurrence {
  name: string;
  /** Whether it must be the name of a role. */
  isRole: boolean;
  file: string;
  line: number | null;
}

/** Whether nothing has the name that it means. */
export const isUnknown = ({ name, isRole }: NameOccurrence, { unknown, roles }: KnownNames): boolean =>
  isRole ? !roles.includes(name) : unknown.includes(name);

/** Every name in the app's rights, once for each file that contains it. */
export function namesInRights({ settings, folder, blocks }: App): NameOccurrence[] {
  const { acl } = settings;
  const lists = acl ? [...Object.values(acl.rights), ...Object.values(acl.roles)] : [];
  const named = (names: readonly string[], file: string, text: string, isRole = false): NameOccurrence[] =>
    [...new Set(names)]
      .filter((name) => name !== '*')
      .map((name) => ({ name, isRole, file, line: lineOf(text, name) }));
  const text = folder.settings?.text ?? '';
  const ofSettings = named(lists.flat(), 'settings.yaml', text);
  const ofSchedules = named(settings.scheduleAs, 'settings.yaml', text, true);
  const ofBlocks = [...blocks.values()].flatMap(({ id, definition }) => {
    const file = folder.files.get(`blocks/${id}.yaml`) ?? folder.files.get(`blocks/${id}.yml`);
    return file ? named(definition.viewPermission ?? [], file.path, file.text) : [];
  });
  return [...ofSettings, ...ofSchedules, ...ofBlocks].slice(0, MAX_NAMES);
}

/** Maximum names that are looked up for an app. */
const MAX_NAMES = 200;

function lineOf(text: string, name: string): number | null {
  const at = text.indexOf(name);
  return at < 0 ? null : text.slice(0, at).split('\n').length;
}
