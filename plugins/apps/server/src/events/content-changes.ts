import type { Core } from '@strapi/strapi';

/** Types that no rendering reads, some of which change all the time. */
const ignored = /^(?:plugin::apps\.|strapi::|admin::session)/;

const afterChanges = [
  'afterCreate',
  'afterCreateMany',
  'afterUpdate',
  'afterUpdateMany',
  'afterDelete',
  'afterDeleteMany',
];

/**
 * Calls `note` for each change of content by Strapi's services, in its transaction, before the call that changes it ends. Code that
 * writes SQL itself is not seen.
 */
export function watchContent({ db }: Pick<Core.Strapi, 'db'>, note: (uids: readonly string[]) => Promise<void>): void {
  const noteChange = async ({ model }: { model: { uid: string } }) => {
    if (!ignored.test(model.uid)) await note([model.uid]);
  };
  db.lifecycles.subscribe(Object.fromEntries(afterChanges.map((name) => [name, noteChange])) as never);
}
