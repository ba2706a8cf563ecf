import type { Items } from '../../../../shared/json';
import type { PlacesData } from '../types';
import * as is from './row';
import { returns, row } from './row';

const app = is.nullable(is.string);
const id = is.string;

/** Host functions for a block of an app. */
export const blockFunctions = {
  blockElements: row({
    doc: 'Reads the elements that a block declares, each with its type.',
    written: ['app.get_block(id).elements', 'app.get_block(id).elements'],
    types: { BlockReference: ['readonly elements: { [name: string]: Items }'] },
    python: { Block: ['@property\ndef elements(self) -> dict[str, dict[str, Any]]'] },
    args: { app, id },
    permission: 'block',
    returns: returns<Items>(),
  }),
  blockPlaces: row({
    doc: 'Tells how many places a block has, and whether it takes records; null for a block without such rules.',
    details: 'What it says is part of what the request has read.',
    written: ['context.block.places', 'context.block.places'],
    types: { BlockReference: ['readonly places: Places | null'] },
    python: { Block: ['@property\ndef places(self) -> Places | None'] },
    args: { app, id },
    permission: 'block',
    returns: returns<PlacesData | null>(),
  }),
  displayBlock: row({
    doc: 'Renders a block as HTML, with a record or without.',
    details: 'To read, or with `edit` to fill in.',
    written: ['app.get_block(id).display({ record, edit })', 'app.get_block(id).display(record=None, edit=False)'],
    types: {
      BlockReference: [
        'display(options?: { record?: AppRecord | string; edit?: boolean }): string',
        'display(record: AppRecord | string | null, edit?: boolean): string',
      ],
    },
    python: { Block: ['def display(self, record: Record | str | None = None, edit: bool = False) -> str'] },
    args: { app, id, record: is.nullable(id), edit: is.boolean },
    permission: 'block',
    returns: returns<string>(),
  }),
  references: row({
    doc: 'Reads the targets of a REFERENCE that the requester may see: their fields, with id and url.',
    details: 'Takes the items of many records at once: up to 200 ids, in lists or not; null counts for none.',
    written: ['app.references(block_id, element, ids)', 'app.references(id, element, ids)'],
    types: {
      App: [
        'references(block_id: string, element: string, ids: unknown): (Items & { id: string; url: string | null })[]',
      ],
    },
    python: { App: ['def references(self, id: str, element: str, ids: Any) -> list[dict[str, Any]]'] },
    args: { app, id, element: is.string, ids: is.ids },
    permission: 'block',
    forwards: { of: 'app', method: 'references', positional: ['id', 'element', 'ids'] },
    returns: returns<Items[]>(),
  }),
};
