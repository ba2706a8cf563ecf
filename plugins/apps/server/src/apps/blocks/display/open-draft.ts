import type { StoredRecord } from '../../../records/types';
import type { FileSources } from '../../elements';
import { draftOf } from '../../run/draft-link';
import type { Run } from '../../run/types';
import type { Block } from '../../types';
import { shownElements } from '../group';
import { readDraftContent } from '../sent/draft-content';
import type { DraftEntry, ShownDraft } from './draft-html';

/** What the form of a block shows of the draft that the request continues, and all that was entered in it; undefined where it continues none. */
export function shownDraft(run: Run, block: Block): { draft: ShownDraft; entries: readonly DraftEntry[] } | undefined {
  const open = draftOf(run, block);
  if (!open) return undefined;
  const { address, draft } = open;
  const { entries, lost } = readDraftContent(block, draft.content, shownElements(run, block));
  return { draft: { address, endsAt: draft.endsAt, lost }, entries };
}

/**
 * Where the files of a form come from: the request, its record, its draft. Another stored file is refused in a form that may be kept as a draft:
 * the draft may have lost it on another device, and to leave it out would lose it unnoticed.
 * @param others further stored files that the form may name
 */
export function formSources(
  run: Run,
  block: Block,
  record: Pick<StoredRecord, 'items'> | null,
  others?: FileSources['named'],
): FileSources {
  const open = draftOf(run, block);
  const own = open?.draft.content.files ?? [];
  return {
    files: run.visit.files,
    items: record?.items,
    named: new Map([...own.map((file) => [file.documentId, file] as const), ...(others ?? [])]),
    isStrict: record === null && (block.definition.drafts || open !== null),
  };
}
