import type { Core } from '@strapi/strapi';

/** Types that no rendering reads, some of which change all the time. */
const ignored = /^(?:plugin::apps\.|strapi::|admin::session)/;

const afterChanges: ReadonlySet<string> = new Set([
  'afterCreate',
  'afterCreateMany',
  'afterUpdate',
  'afterUpdateMany',
  'afterDelete',
  'afterDeleteMany',
]);

/**
 * Calls `note` for each change of content by Strapi's services, in its transaction, before the call that changes it ends. Code that
 * writes SQL itself is not seen.
 */
export function watchContent(
  { db: { lifecycles } }: { db: Pick<Core.Strapi['db'], 'lifecycles'> },
  note: (uids: readonly string[]) => Promise<void>,
): void {
  // A subscriber is not called where a hook before it fails, or hooks are switched off, though content has changed.
  const run = lifecycles.run.bind(lifecycles);
  lifecycles.run = async (action, uid, ...rest) => {
    if (afterChanges.has(action) && !ignored.test(uid)) await note([uid]);
    return run(action, uid, ...rest);
  };
}
