import type { Core } from '@strapi/strapi';
import type { Happening } from './happenings';

/** What has happened, with the function to run after the commit. */
export interface Due {
  happening: Happening;
  work(): void;
}

/**
 * Keeps what has happened in a transaction until it is committed; where none is open, it is done at once. A draft that is
 * saved and published in one transaction was published: the Content Manager's button *Publish* saves the form first, which
 * is no update of its own.
 */
export function createAfterCommit(strapi: Core.Strapi) {
  const lists = new WeakMap<object, Due[]>();

  return async (due: readonly Due[], happened: readonly Happening[]): Promise<void> => {
    if (!strapi.db.inTransaction()) {
      for (const { work } of due) work();
      return;
    }
    await strapi.db.transaction(async ({ trx, onCommit }) => {
      const list = lists.get(trx) ?? [];
      if (!lists.has(trx)) {
        lists.set(trx, list);
        onCommit(() => {
          for (const { work } of list) work();
        });
      }
      const published = happened.filter(({ event }) => event === 'publish');
      const rest = list.filter(({ happening }) => !published.some((one) => isSavedFor(happening, one)));
      list.splice(0, list.length, ...rest, ...due);
    });
  };
}

/** Whether an update only saved the draft that is then published. */
function isSavedFor(before: Happening, published: Happening): boolean {
  const { event, uid, documentId, locale } = before;
  const same = uid === published.uid && documentId === published.documentId && locale === published.locale;
  return same && event === 'update' && !before.published;
}
