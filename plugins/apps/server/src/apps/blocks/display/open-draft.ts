import type { StoredFile } from '../../../files';
import { draftOf } from '../../run/draft-link';
import type { Run } from '../../run/types';
import type { Block } from '../../types';
import { shownElements } from '../group';
import { readDraftContent } from '../sent/draft-content';
import type { FileSources } from '../sent/submitted-files';
import type { DraftEntry, ShownDraft } from './draft-html';

/** What the form of a block shows of the draft that the request continues, and all that was entered in it; undefined where it continues none. */
export function shownDraft(run: Run, block: Block): { draft: ShownDraft; entries: readonly DraftEntry[] } | undefined {
  const open = draftOf(run, block);
  if (!open) return undefined;
  const { address, draft } = open;
  const { entries, lost } = readDraftContent(block, draft.content, shownElements(run, block));
  return { draft: { address, endsAt: draft.endsAt, lost }, entries };
}

/** The stored files that a form may name, besides those of its record: those of its draft, and others. */
export function namedFiles(run: Run, block: Block, others?: FileSources['named']): ReadonlyMap<string, StoredFile> {
  const own = draftOf(run, block)?.draft.content.files ?? [];
  return new Map([...own.map((file) => [file.documentId, file] as const), ...(others ?? [])]);
}
