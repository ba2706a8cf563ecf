import type { PlacesData } from '../../../logic/types';
import { escapeHtml } from '../../elements';
import { placeText } from '../../run/places/rules';
import { localeOf } from '../../run/site-locale';
import type { Run } from '../../run/types';
import type { Block } from '../../types';
import { isSaved } from '../group';
import { draftHtml, entriesHtml } from './draft-html';
import type { DisplayOptions } from './element-contents';
import { formHtml } from './form';

/** Whether a form makes a record: it has a save button, and shows no record. */
const makesRecord = (run: Run, block: Block, { record, mode }: DisplayOptions): boolean =>
  record === null && mode === 'input' && isSaved(run, block);

/**
 * What stands in place of a form whose block takes no records now: a text in a form without fields, which the browser's script
 * reloads like any other. Null where the block takes records.
 */
export async function shutForm(
  run: Run,
  block: Block,
  options: DisplayOptions,
  places: PlacesData | null,
): Promise<string | null> {
  const rules = block.definition.places;
  if (!rules || !places || places.state === 'open' || !makesRecord(run, block, options)) return null;
  if (places.state === 'full' && rules.waitingList) return null;
  const text = placeText(rules, places.state, await localeOf(run));
  const { submission: _refused, ...shown } = options;
  const draft = `${await entriesHtml(run, options)}${await draftHtml(run, options)}`;
  return formHtml(run, block, shown, `<p class="apps-note">${escapeHtml(text)}</p>${draft}`);
}

/** The sentence above a form that adds to a waiting list; else ''. */
export async function waitingNote(
  run: Run,
  block: Block,
  options: DisplayOptions,
  places: PlacesData | null,
): Promise<string> {
  const waits = places?.state === 'full' && block.definition.places?.waitingList;
  if (!waits || !makesRecord(run, block, options)) return '';
  const { say } = await localeOf(run);
  return `<p class="apps-note">${escapeHtml(say('place_waits'))}</p>`;
}
