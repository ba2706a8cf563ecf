import { type HostFunction, row } from './row';
import * as is from './schema';

const app = is.nullable(is.string);
const id = is.string;

/** What logic may ask about the blocks and the indexes of an app. */
export const blockFunctions: readonly HostFunction[] = [
  row(
    'blockElements',
    'Reads the elements that a block declares, each with its type.',
    ['app.get_block(id).elements', 'app.get_block(id).elements'],
    { app, id },
    ({ host }, a) => host.blockElements(a.app, a.id),
  ),
  row(
    'displayBlock',
    'Renders a block as HTML, with a record or without.',
    ['app.get_block(id).display({ record, edit })', 'app.get_block(id).display(record=None, edit=False)'],
    { app, id, record: is.nullable(id), edit: is.boolean },
    ({ host }, a) => host.displayBlock(a.app, a.id, a.record, a.edit),
  ),
  row(
    'refresh',
    'Builds the indexes of the app again when the request is stored; for managers.',
    ['app.refresh({ rebuild })', 'app.refresh(rebuild=False)'],
    { app, rebuild: is.boolean },
    ({ host }, a) => host.refresh(a.app, a.rebuild),
  ),
];
