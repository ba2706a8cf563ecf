import { resolve } from 'node:path';
import type { PersonTools } from '../../server/src';
import { isAppsError } from '../../server/src/common/errors';
import type { ErasureEffect, PersonGroup } from '../../shared/admin-api';
import { CannotRun, exitCodes, type Invocation, type RunCommand } from './command';
import { withStrapi } from './host';
import { writeWhole } from './import';

const FILE = 'person.zip';

/** What erasing does, in words. */
const effects: Record<ErasureEffect, string> = {
  delete: 'deleted',
  anonymize: 'without the items that the definition names, and without whose it was',
  change: 'without the part about the person',
  name: 'without the name',
};

const inWords = ({ count, kind, site, app, does }: PersonGroup): string =>
  `${[site, app].filter((one) => one !== null).join('/') || 'all apps'}: ${count} ${kind}, ${effects[does]}`;

/** Works on persons in the host. CannotRun for what names no one. */
async function withPersons<T>(host: Invocation['host'], work: (persons: PersonTools) => Promise<T>): Promise<T> {
  try {
    return await withStrapi(host(), (strapi) => work(strapi.plugin('apps').service('persons') as PersonTools));
  } catch (error) {
    throw isAppsError(error) ? new CannotRun(error.message) : error;
  }
}

/** Writes everything of a person to a ZIP (docs/reference/command-line.md#person-export-who). */
export const exportPerson: RunCommand = async ({ args: { who = '' }, options: { out }, output, cwd, host }) => {
  const file = resolve(cwd, typeof out === 'string' ? out : FILE);
  const { groups } = await withPersons(host, async (persons) => {
    const found = await persons.find(who);
    await writeWhole(file, async (write) => {
      for await (const piece of await persons.export(who)) await write(piece as Buffer);
    });
    return found;
  });
  const entries = groups.reduce((sum, { kind, count }) => (kind === 'files' ? sum : sum + count), 0);
  output.line(`${entries} entries exported to ${file}`);
  output.data({ entries, file });
  return exitCodes.fine;
};

/** Erases everything of a person; without `--yes` it says what would go (docs/reference/command-line.md#person-erase-who). */
export const erasePerson: RunCommand = async ({ args: { who = '' }, options: { yes }, output, host }) => {
  const isMeant = yes === true;
  const { groups, failed } = await withPersons(host, async (persons) =>
    isMeant ? persons.erase(who) : { ...(await persons.find(who)), failed: [] },
  );
  if (groups.length === 0) output.line('Nothing is stored');
  for (const group of groups) output.line(inWords(group));
  for (const { kind, id, message } of failed) output.line(`  not erased: ${kind} ${id}: ${message}`);
  if (!isMeant && groups.length > 0) output.note('Nothing was changed: with --yes this is erased');
  output.data({ erased: isMeant, groups, failed });
  return failed.length > 0 ? exitCodes.problems : exitCodes.fine;
};
