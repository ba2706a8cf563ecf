import type { ErasedPerson, FoundPerson, PersonGroup } from '../../shared/admin-api';
import { placeOfFile } from './apps';
import type { ListedFile, MoveOutcome } from './files/types';
import type { HttpServices } from './http';

/** What a move has done with the files of one app. */
export interface MoveReport {
  site: string;
  app: string;
  moved: number;
  /** Where they should be already. */
  there: number;
  /** Of elements that say otherwise. */
  otherwise: number;
  /** Content of Strapi uses them. */
  used: number;
  /** Nothing is stored of them. */
  gone: number;
  failed: { file: string; message: string }[];
}

/** Where files are moved to. */
const moveTargets = ['private', 'public'] as const;
export type MoveTarget = (typeof moveTargets)[number];

/** What operators do with the files of records (docs/reference/files.md#moving-files). */
export function createFileTools(running: () => HttpServices) {
  /** What the element says in whose record a file is; null where none is found. */
  const placeOf = async ({ site: siteId, app: appId, documentId }: ListedFile) => {
    const { sites, loadApp, store } = running();
    const site = await sites.site(siteId);
    const app = site && (await loadApp(site, appId));
    if (!app) return null;
    const records = await store.recordsWithFile({ site: siteId, app: appId }, documentId);
    for (const { items } of records) {
      const place = placeOfFile(app, items, documentId);
      if (place) return place;
    }
    return null;
  };

  /** One file; `otherwise` where its element does not say what is asked for. */
  const moveOne = async (file: ListedFile, to: MoveTarget, isNamed: boolean): Promise<MoveOutcome | 'otherwise'> => {
    const { moves } = running().files;
    const place = await placeOf(file);
    if (to === 'private') return place?.isPublic ? 'otherwise' : moves.toPrivate(file);
    // Of all apps together nothing becomes public that no author has called so.
    if (file.stored && !place?.isPublic && !isNamed) return 'otherwise';
    return moves.toPublic(file, place?.folder);
  };

  return {
    /**
     * Moves the files of records: to the private storage all but those of elements with `public: true`; to the media library those of
     * elements with it, and of an app that is named all. A file that cannot be moved stays where it is, and keeps no other from it.
     */
    async move(to: MoveTarget, app: string | undefined): Promise<MoveReport[]> {
      const reports = new Map<string, MoveReport>();
      for await (const file of running().files.moves.list(app)) {
        const name = JSON.stringify([file.site, file.app]);
        const known = reports.get(name) ?? {
          site: file.site,
          app: file.app,
          moved: 0,
          there: 0,
          otherwise: 0,
          used: 0,
          gone: 0,
          failed: [],
        };
        reports.set(name, known);
        try {
          known[await moveOne(file, to, app !== undefined)] += 1;
        } catch (error) {
          known.failed.push({ file: file.documentId, message: error instanceof Error ? error.message : String(error) });
        }
      }
      return [...reports.values()];
    },
  };
}

/** Who the audit log names for what the operator of the host does by the command line or from code. */
const operator = { identity: 'operator', name: null };

/** What operators do with what is stored of a person (docs/operate/privacy.md#from-code). Errors as those of Persons. */
export function createPersonTools(running: () => HttpServices) {
  const audited = <T>(who: string, action: 'person-export' | 'person-erase', work: () => Promise<T>): Promise<T> => {
    const { audit, persons } = running();
    const about = { site: null, app: null, block: null, unsaved: [], requester: persons.reference(who) };
    return audit.run({ administrator: operator, action, ...about }, work, () => 200);
  };
  return {
    find: (who: string): Promise<FoundPerson> => running().persons.find(who),
    /** A ZIP, as a stream. */
    export: (who: string) => audited(who, 'person-export', () => running().persons.export(who)),
    /** Erases all, however long it takes. */
    erase: (who: string): Promise<ErasedPerson> =>
      audited(who, 'person-erase', async () => {
        const groups: PersonGroup[] = [];
        for (;;) {
          const part = await running().persons.erase(who);
          groups.push(...part.groups);
          if (part.done) return { ...part, groups: summed(groups) };
        }
      }),
  };
}

/** The groups of several parts of an erasure, each once. */
function summed(groups: readonly PersonGroup[]): PersonGroup[] {
  const sums = new Map<string, PersonGroup>();
  for (const { count, ...group } of groups) {
    const name = JSON.stringify(group);
    sums.set(name, { ...group, count: count + (sums.get(name)?.count ?? 0) });
  }
  return [...sums.values()];
}
