import { z } from 'zod';
import type { columnRoutes, KeptColumns } from '../../../../../shared/admin-api';
import { must, readBody } from '../../../common/request-schema';
import { jsonObject } from '../../request/body';
import { administratorOf, appOf, type Handlers } from '../handler';

/** Columns of one app, and characters of a name. */
const MAX = { columns: 200, name: 255 };

const columnsBody = z.object({
  columns: z
    .array(
      z.string(must('a name')).max(MAX.name, must(`at most ${MAX.name} characters`)),
      must('a list of names, or null'),
    )
    .max(MAX.columns, must(`at most ${MAX.columns} names`))
    .nullable(),
});

/** What the admin routes of an administrator's own columns answer (shared/admin/columns.ts). */
export const columnHandlers: Handlers<typeof columnRoutes> = {
  async columns(ctx, services): Promise<KeptColumns> {
    const { key } = await appOf(ctx, services);
    ctx.set('Cache-Control', 'private, no-store');
    return { columns: await services.panelColumns.get((await administratorOf(ctx, services)).identity, key) };
  },

  async setColumns(ctx, services): Promise<KeptColumns> {
    const { key } = await appOf(ctx, services);
    const { columns } = readBody(columnsBody, jsonObject(ctx));
    const names = columns && [...new Set(columns)];
    await services.panelColumns.set((await administratorOf(ctx, services)).identity, key, names);
    return { columns: names };
  },
};
