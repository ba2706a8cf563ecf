import type { ErasedPerson, FoundPerson, PersonGroup } from '../../shared/admin-api';
import type { HttpServices } from './http';

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
