import { appMethods, documentMethods, recordMethods, unflushed } from 'apps:host-functions';
import { ownLimits, urlParts } from '../../own-calls';
import { escapeHtml } from '../context/context';
import { labels } from '../globals/text-coding';
import { logText } from '../log';
import { LogicRecord } from '../records/record-view';
import { isItems } from '../request';

/**
 * What all sessions of a context are given of the prelude: by `context`, or by a built-in that they have replaced and the prelude calls,
 * `Array.prototype.includes` for instance. A test finds what is missing here (reuse/audit.test.ts).
 */
export const sharedObjects: readonly unknown[] = [
  ...[LogicRecord, escapeHtml, isItems, labels, logText, ownLimits, urlParts],
  ...[appMethods, documentMethods, recordMethods, unflushed],
];
