import { z } from 'zod';
import { type AuditPage, auditActions, type auditRoutes } from '../../../../shared/admin-api';
import { must, readParameters } from '../../common/request-schema';
import type { Handlers } from './handler';

/** Characters of a filter. */
const MAX_TEXT = 300;

const filter = z
  .string()
  .max(MAX_TEXT, must(`at most ${MAX_TEXT} characters`))
  .optional();

const parameters = z.object({
  site: filter,
  app: filter,
  action: z.enum(auditActions, must(`one of ${auditActions.join(', ')}`)).optional(),
  administrator: filter,
  before: filter,
});

/** What the admin route of the audit log answers (shared/admin/audit.ts). */
export const auditHandlers: Handlers<typeof auditRoutes> = {
  audit: (ctx, { audit }): Promise<AuditPage> => audit.list(readParameters(parameters, ctx.query)),
};
