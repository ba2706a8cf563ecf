import { type ElementView, entryElements } from '../elements';
import type { Run } from '../run/types';
import type { BlockSession } from './block-session';
import type { DisplayOptions } from './element-contents';
import { optionsOf } from './element-options';
import type { FormMessages } from './html/form-messages';
import { repeatHtml } from './html/repeat';
import { formFiles } from './submitted-files';

/** The HTML of a repeated group, with the options that the block's logic gives its fields. */
export async function repeatContent(
  run: Run,
  session: BlockSession,
  view: ElementView,
  display: DisplayOptions,
  messages: FormMessages | undefined,
): Promise<string> {
  const { definition } = view;
  const { name } = definition;
  const options = await optionsOf(session, entryElements(definition));
  const { submission } = display;
  const { focus } = submission ?? {};
  return repeatHtml(view, {
    options,
    messages,
    sent: submission?.repeats.get(name),
    focus: focus?.element === name ? focus.position : undefined,
    files: (submitted, value) => formFiles(display, submitted, value),
    tools: run.services,
  });
}
