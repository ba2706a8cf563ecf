import { excerptOf } from '../../../../../shared/positions';
import { grantedBy, grants, indexOf, type RecordRight } from '../../../auth';
import type { Requester } from '../../../auth/types';
import type { App, Block } from '../../types';
import type { Path } from '../../yaml/positions';
import { positionIn } from '../../yaml/yaml';
import { sourceOf } from './error-mark';

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
