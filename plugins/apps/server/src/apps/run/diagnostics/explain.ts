import { excerptOf, positioned } from '../../../../../shared/positions';
import { grantedBy, grants, indexOf, type KnownNames, type RecordRight } from '../../../auth';
import type { Requester } from '../../../auth/types';
import { didYouMean } from '../../../common/text';
import type { LogEntry } from '../../../logic/types';
import type { App, Block } from '../../types';
import { type Path, positionIn } from '../../yaml';
import type { AppServices } from '../types';
import { folderOf, sourceOf, warnOfApp } from './failures';

/** What grants a right to a requester, or what would. */
export interface Reason {
  kind: 'manager' | 'list' | 'permission' | 'open';
  position: { file: string; line: number | null; column: number | null; excerpt: string | null } | null;
  list: string | null;
  name: string | null;
  permission: string | null;
}

const nothing = { position: null, list: null, name: null, permission: null };

/** Uids of the permissions that make a manager. */
const managing = { administrator: 'plugin::apps.manage', other: 'plugin::apps.app.manage' };

const managerReason = ({ kind }: Requester): Reason => ({
  ...nothing,
  kind: 'manager',
  permission: kind === 'administrator' ? managing.administrator : managing.other,
});

/**
 * Why the requester has a right to records (`grantedBy` decides), or else what would give it to them.
 * @param isOwn whether the record is the requester's own
 */
export function rightReasons(app: App, requester: Requester, right: RecordRight | 'manage', isOwn = true): Reason[] {
  const { acl } = app.settings;
  if (right === 'manage') return [managerReason(requester)];
  const granted = grantedBy(requester, acl, right);
  if (granted?.by === 'manager') return [managerReason(requester)];
  if (granted?.by === 'action') return [{ ...nothing, kind: 'permission', permission: granted.action }];
  if (granted && (isOwn || !granted.own))
    return [listReason(app, ['acl', 'rights', granted.list], acl?.rights[granted.list], granted.index)];
  const { lists, own, action } = grants[right];
  return [
    ...[...lists, ...(isOwn ? own : [])].map((list) => listReason(app, ['acl', 'rights', list], acl?.rights[list])),
    { ...nothing, kind: 'permission', permission: action },
    managerReason(requester),
  ];
}

/** Why a block's `view_permission` lets the requester in (`allows` decides), or else what would. */
export function blockReasons(app: App, requester: Requester, block: Block): Reason[] {
  const { viewPermission } = block.definition;
  if (viewPermission === null) return [{ ...nothing, kind: 'open' }];
  if (requester.isManager) return [managerReason(requester)];
  const index = indexOf(requester, viewPermission);
  const reason = listReason(app, ['view_permission'], viewPermission, index, definitionOf(app, block));
  return index >= 0 ? [reason] : [reason, managerReason(requester)];
}

const definitionOf = ({ folder }: App, { id }: Block): string =>
  [`blocks/${id}.yaml`, `blocks/${id}.yml`].find((path) => folder.files.has(path)) ?? '';

/** @param index of the requester's name; -1: the list does not name them */
function listReason(app: App, path: Path, list?: readonly string[], index = -1, file?: string): Reason {
  const source = file ?? app.folder.settings?.path ?? 'settings.yaml';
  const text = sourceOf(app, source);
  const found =
    text === undefined || list === undefined
      ? null
      : positionIn({ path: source, text }, index < 0 ? path : [...path, index]);
  const { line = null, column = null } = found ?? {};
  const excerpt = text === undefined ? null : excerptOf(text, { file: source, line, column });
  return {
    ...nothing,
    kind: 'list',
    position: { file: source, line, column, excerpt },
    list: path.join('.'),
    name: index < 0 ? null : (list?.[index] ?? null),
  };
}

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

interface NameOccurrence {
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
    const ofStates = [...(definition.states?.all.values() ?? [])].flatMap(({ by }) => by ?? []);
    return file ? named([...(definition.viewPermission ?? []), ...ofStates], file.path, file.text) : [];
  });
  return [...ofSettings, ...ofSchedules, ...ofBlocks].slice(0, MAX_NAMES);
}

/** Maximum names that are looked up for an app. */
const MAX_NAMES = 200;

function lineOf(text: string, name: string): number | null {
  const at = text.indexOf(name);
  return at < 0 ? null : text.slice(0, at).split('\n').length;
}
