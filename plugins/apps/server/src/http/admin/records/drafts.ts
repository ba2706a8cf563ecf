import { z } from 'zod';
import type { DraftList, draftRoutes } from '../../../../../shared/admin-api';
import { notFound } from '../../../common/errors';
import { must, readParameters } from '../../../common/request-schema';
import { appOf, type Handlers } from '../handler';

/** Drafts of one page of the panel. */
const PAGE = 100;

const parameters = z.object({ id: z.string(must('the id of a draft')) });

/** What the admin routes of drafts answer (shared/admin/drafts.ts). */
export const draftHandlers: Handlers<typeof draftRoutes> = {
  async drafts(ctx, services): Promise<DraftList> {
    const { key } = await appOf(ctx, services);
    ctx.set('Cache-Control', 'private, no-store');
    const { drafts, total } = await services.drafts.list(key, PAGE);
    const creators = await services.creators([...new Set(drafts.flatMap(({ owner }) => owner ?? []))]);
    const ownerOf = (identity: string | null) =>
      identity === null ? null : { identity, ...(creators.get(identity) ?? { name: identity, path: null }) };
    return {
      drafts: drafts.map(({ draftId, block, owner, savedAt, endsAt, bytes }) => ({
        ...{ id: draftId, block, bytes, owner: ownerOf(owner) },
        savedAt: new Date(savedAt).toISOString(),
        endsAt: new Date(endsAt).toISOString(),
      })),
      total,
    };
  },

  async deleteDraft(ctx, services): Promise<{ success: 'deleted' }> {
    const { key } = await appOf(ctx, services);
    const { id } = readParameters(parameters, ctx.query);
    if (!(await services.drafts.remove(key, id))) throw notFound('There is no such draft');
    return { success: 'deleted' };
  },
};
