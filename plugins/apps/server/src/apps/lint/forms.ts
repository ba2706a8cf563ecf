import type { CompiledLayout, Layouts } from '../../layouts/types';
import { shownElements } from '../blocks/group';
import { builtInActions, PAGES, roleOf } from '../elements';
import type { App, Block, ElementDefinition } from '../types';
import type { Finding } from './problem';

/** Keys of an element by which its value is checked when a form is saved. */
const checks = ['required'] as const satisfies readonly (keyof ElementDefinition)[];

/** A control of the layout's own that can send its form. */
const OWN_BUTTON = /<(?:button|form)\b|<input\b[^<>]*\btype\s*=\s*["']?(?:submit|image)\b/i;

/** What a block's form lacks: fields that are checked, and a button. @param layout compiled */
export function formFindings(
  layouts: Pick<Layouts, 'compile'>,
  app: App,
  block: Block,
  layout: CompiledLayout,
): Finding[] {
  const shows = shownElements({ services: { layouts } }, block);
  return [...lostFields(block, shows), ...lostButton(app, block, layout, shows)];
}

type Shows = (name: string) => boolean;

const isEntered = (element: ElementDefinition) => roleOf(element) === 'input' && !element.mode && !element.readonly;

/** Fields of a form that saves which must be filled in, and which it does not show. */
function lostFields(block: Block, shows: Shows): Finding[] {
  if (!shows('_save')) return [];
  return [...block.definition.elements.values()]
    .filter((element) => isEntered(element) && !shows(element.name))
    .flatMap((element) => {
      const key = checks.find((one) => element[one] === true);
      if (!key) return [];
      const message = `The form does not show "${element.name}", which is "${key}": it cannot be filled in`;
      const cure = `Write \`{${element.name}}\` in ${block.layout?.path}, or take "${key}" away.`;
      return [{ severity: 'warning', position: element.position, message, cure }];
    });
}

/** A layout that shows fields, and nothing that sends them. */
function lostButton(app: App, block: Block, { named }: CompiledLayout, shows: Shows): Finding[] {
  const { id, layout, definition } = block;
  if (!layout || definition.pages || OWN_BUTTON.test(layout.text) || showsRecords(app, block)) return [];
  const elements = [...definition.elements.values()];
  const buttons = [
    ...builtInActions.keys(),
    ...elements.filter((one) => roleOf(one) === 'action').map((one) => one.name),
  ];
  const fields = elements.filter((one) => isEntered(one) && shows(one.name));
  if (fields.length === 0 || buttons.some(shows) || shows(PAGES)) return [];
  const [field] = fields;
  const place = named().find(({ names }) => names.includes(field?.name ?? ''));
  const { path: file = layout.path, line, column } = place ?? {};
  return [
    {
      severity: 'warning',
      position: { file, ...(line === undefined ? {} : { line, column }) },
      message: `The form of the block "${id}" has no button: it cannot be sent`,
      cure: 'Write `{_save}` in the layout, or the name of an ACTION.',
    },
  ];
}

/** Whether a block is for records to read: its layout reads the record or the mode, or another file of the app names the block. */
function showsRecords({ folder }: App, { id, layout }: Block): boolean {
  if (/\bcontext\.(?:record|mode)\b/.test(layout?.text ?? '')) return true;
  const named = new RegExp(`["'\`:/ ]${id.replaceAll('.', '\\.')}(?![\\w.-])`);
  return [...folder.files.values()].some(
    ({ path, text }) => /\.(?:js|ts|py|ya?ml)$/.test(path) && path !== `blocks/${id}.yaml` && named.test(text),
  );
}

/** The warning of an app without `acl` whose forms only managers, and roles with permissions of Strapi, may send. */
export function aclFindings(layouts: Pick<Layouts, 'compile'>, app: App): Finding[] {
  if (app.error || app.settings.acl) return [];
  for (const block of app.blocks.values()) {
    const { viewPermission } = block.definition;
    if (block.error || !block.layout || viewPermission?.length === 0) continue;
    const layout = attemptCompile(layouts, block);
    if (!layout || !shownElements({ services: { layouts } }, block)('_save')) continue;
    const place = layout.named().find(({ names }) => names.includes('_save') || names.includes(PAGES));
    const { path: file = block.layout.path, line, column } = place ?? {};
    const position = { file, ...(line === undefined ? {} : { line, column }) };
    const message = `Visitors cannot send the form of the block "${block.id}": the app has no "acl", so that only managers may save`;
    const cure = 'Write in settings.yaml who may send it, such as `acl: { rights: { submitter: ["*"] } }`.';
    return [{ severity: 'warning', position, message, cure }];
  }
  return [];
}

/** Null for a broken layout, which is reported as such. */
function attemptCompile(layouts: Pick<Layouts, 'compile'>, { layout }: Block): CompiledLayout | null {
  try {
    return layout && layouts.compile(layout);
  } catch {
    return null;
  }
}
