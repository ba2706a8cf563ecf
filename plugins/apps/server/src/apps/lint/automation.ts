import { attempt } from '../../common/errors';
import { didYouMean } from '../../common/text';
import { cronWords } from '../../common/time/cron';
import type { CompiledLayout } from '../../layouts/types';
import { secretOf } from '../../outbound';
import type { Outbound } from '../../outbound/types';
import type { App, Block } from '../types';
import { cureOf } from './logic';
import type { Finding } from './problem';

/** Schedules whose function the block does not have. */
export function scheduleFindings(block: Block, functions: ReadonlySet<string>): Finding[] {
  const { logic, definition } = block;
  return definition.schedules.flatMap(({ run, position }) => {
    if (functions.has(run)) return [];
    const lack = logic ? `${logic.path} has no function "${run}"` : 'the block has no logic file';
    const message = `The schedule does nothing: ${lack}${didYouMean(run, [...functions])}`;
    return [{ severity: 'error' as const, position, message, cure: cureOf(block, run) }];
  });
}

/** What a schedule means, for its author. */
export interface ScheduleMeaning {
  file: string;
  line: number | null;
  column: number | null;
  block: string;
  run: string;
  cron: string;
  /** `At 06:00, Monday through Friday, Europe/Paris`. */
  words: string;
}

/** The schedules of an app's blocks in words. @param prefix put before their files */
export function scheduleMeanings(app: App, prefix: string): ScheduleMeaning[] {
  return [...app.blocks.values()].flatMap(({ id, definition }) =>
    definition.schedules.map(({ run, cron, timeZone, position: { file, line = null, column = null } }) => {
      const words = cronWords(cron, timeZone ?? "the site's time zone");
      return { file: prefix + file, line, column, block: id, run, cron, words };
    }),
  );
}

type Calls = Pick<Outbound, 'check' | 'secret'>;

/** What the configuration lacks for a secret; the machine of a developer may have other values than the server. */
function secretFinding(outbound: Calls, name: string, what: string, position: Finding['position']): Finding[] {
  if (secretOf(outbound, name) !== null) return [];
  const message = `${what}: this host has no "fetch.secrets.${name}.value"`;
  return [
    { severity: 'warning', position, message, cure: 'Set it in config/plugins, most often from the environment.' },
  ];
}

/** Webhooks of settings.yaml that this host would not send. */
export function webhookFindings(outbound: Calls, app: App): Finding[] {
  return [...app.settings.webhooks].flatMap(([name, { url, secret, position }]) => {
    const what = `The webhook "${name}" is not sent`;
    const call = { url, method: 'POST', headers: {}, body: '', timeout: null, isExact: true };
    const { error } = attempt(() => outbound.check(app.id, call));
    const refused: Finding[] = error ? [{ severity: 'warning', position, message: `${what}: ${error.message}` }] : [];
    return [...refused, ...(secret === null ? [] : secretFinding(outbound, secret, what, position))];
  });
}

/** Functions that make bodies of webhooks, and that the logic of a block lacks. */
export function bodyFindings({ settings }: App, { id, logic }: Block, functions: ReadonlySet<string>): Finding[] {
  return [...settings.webhooks].flatMap(([name, { body, position }]): Finding[] => {
    if (body?.block !== id || functions.has(body.name)) return [];
    const lack = logic ? `${logic.path} has no function "${body.name}"` : `the block "${id}" has no logic file`;
    const message = `The webhook "${name}" is not sent: ${lack}${didYouMean(body.name, [...functions])}`;
    return [{ severity: 'error', position, message }];
  });
}

/** Elements that webhooks call: those that a layout shows, and those whose signatures this host cannot check. */
export function verifyFindings(outbound: Calls, block: Block, layout: CompiledLayout | null): Finding[] {
  return [...block.definition.elements.values()].flatMap(({ name, verify, position }): Finding[] => {
    if (!verify) return [];
    const what = `Webhooks for the element "${name}" are refused`;
    const lack = secretFinding(outbound, verify.secret, what, position);
    if (!layout?.shows(name)) return lack;
    const message = `The layout shows "${name}", which webhooks call: a page shows nothing of it`;
    return [
      ...lack,
      { severity: 'error', position, message, cure: `Take \`{${name}}\` out of ${block.layout?.path}.` },
    ];
  });
}

/** Lists of an `acl` whose members make records. */
const MAKERS = ['submitter', 'author', 'editor'] as const;

/** Receipts without a confirmation in an app in which everyone may save: their text is entered, and so is their address. */
export function receiptFindings({ settings, blocks }: App): Finding[] {
  if (!MAKERS.some((list) => settings.acl?.rights[list].includes('*'))) return [];
  return [...blocks.values()].flatMap(({ definition: { receipt } }): Finding[] => {
    if (!receipt || receipt.confirm) return [];
    const message = 'receipt: everyone may save, so that anyone can have what they enter sent to any address';
    return [{ severity: 'warning', position: receipt.position, message, cure: 'Write `confirm: true`.' }];
  });
}
