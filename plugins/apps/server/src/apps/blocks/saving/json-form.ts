import type { Items } from '../../../../../shared/json';
import type { ServiceMessage } from '../../locales';
import { localeOf } from '../../run/locale';
import { FormRefusal } from '../../run/refusals';
import type { Run } from '../../run/types';
import type { Block } from '../../types';
import { shownElements } from '../group';
import { shownInputs } from '../sent/entered';
import { formOfJson, type SentFields } from '../sent/fields-of-items';
import { filesNamed } from '../sent/submitted-files';
import { ownFiles, refuseState, serverItems } from './checked-items';

/** A block's form that was sent as JSON. */
export interface JsonForm {
  /** The run in which `context.request.form` has what a browser would have sent. */
  run: Run;
  form: SentFields;
}

/**
 * Reads a block's form that was sent as JSON (docs/reference/layouts.md#posting-a-form). In a strict app a FormRefusal names each
 * key that is no field of the form: nothing that a client sends is ignored.
 */
export async function readJsonForm(run: Run, block: Block, body: Items): Promise<JsonForm> {
  const shows = shownElements(run, block);
  await refuseState(run, block, Object.keys(body));
  const { strict } = run.app.settings;
  if (strict) await requireFields(run, block, body, shows);
  const named = await ownFiles(run, filesNamed(block, body));
  const { form, ...sent } = formOfJson(block, body, shows, { strict, named });
  const { visit } = run;
  return { run: { ...run, visit: { ...visit, request: { ...visit.request, form } } }, form: sent };
}

/** Buttons and hidden fields of a form, which its logic may read. */
const isOfForm = (name: string) => name.startsWith('_') || name.startsWith('action.');

async function requireFields(run: Run, block: Block, body: Items, shows: (name: string) => boolean): Promise<void> {
  const fields = new Set(shownInputs(block, shows).map(({ name }) => name));
  const ofServer = serverItems(block);
  // Before a colon: a repeated group of an entry's field, a reference whose targets are looked for.
  const isOfField = (name: string) => fields.has(name.split(':', 1)[0] ?? '');
  const isKnown = (name: string) => isOfField(name) || isOfForm(name) || (name === 'block' && body.block === block.id);
  const unknown = Object.keys(body).filter((name) => !isKnown(name));
  if (unknown.length === 0) return;
  const { say } = await localeOf(run);
  const problemOf = (name: string): ServiceMessage => (ofServer.has(name) ? 'server_item' : 'unknown_item');
  throw new FormRefusal(unknown.map((name) => ({ path: [name], message: say(problemOf(name)) })));
}
