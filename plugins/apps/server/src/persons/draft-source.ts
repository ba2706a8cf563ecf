import type { Drafts } from '../links/types';
import { exportPath } from './record-source';
import { rowSource } from './row-source';
import type { TableStatements } from './scan';
import type { PersonSource, Stored } from './types';

/** Drafts of forms that have the address in a field, or that the account has begun, with their files. */
export function draftSource({
  tables,
  drafts,
}: {
  tables: TableStatements;
  drafts: Pick<Drafts, 'remove'>;
}): PersonSource {
  const rows = rowSource(tables, {
    kind: 'drafts',
    table: 'apps_drafts',
    name: 'draft_id',
    at: 'saved_at',
    texts: [{ column: 'content', isJson: true }],
    identities: ['owner'],
  });
  return {
    async *find(person) {
      for await (const batch of rows.find(person)) {
        const found = batch.flatMap(withFiles);
        if (found.length > 0) yield found;
      }
    },
    erase: async (_person, { site, app, id }) =>
      site !== null && app !== null && (await drafts.remove({ site, app }, id)),
  };
}

interface Content {
  files?: { documentId: string; name: string }[];
}

/** None for a draft that was sent: nothing is left of it. */
function withFiles(stored: Stored): Stored[] {
  const { files } = (stored.data.content ?? {}) as Content;
  if (!files) return [];
  const contents = files.map(({ documentId, name }) => ({ documentId, path: exportPath(documentId, name) }));
  return [{ ...stored, files: contents.map(({ path }) => path), contents }];
}
