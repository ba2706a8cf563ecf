import { appRoutes } from './admin/apps';
import { archiveRoutes } from './admin/archives';
import { auditRoutes } from './admin/audit';
import { codeRoutes } from './admin/code';
import { columnRoutes } from './admin/columns';
import { draftRoutes } from './admin/drafts';
import { historyRoutes } from './admin/history';
import { indexRoutes } from './admin/indexes';
import { jobRoutes } from './admin/jobs';
import { optionRoutes } from './admin/options';
import { personRoutes } from './admin/persons';
import { recordRoutes } from './admin/records';
import { ruleRoutes } from './admin/rules';
import { runRoutes } from './admin/runs';
import { siteRoutes } from './admin/sites';
import { tileRoutes } from './admin/tiles';
import { whyRoutes } from './admin/why';

/**
 * The JSON interface between the admin panel's pages and the server: admin routes of the plugin, below `/apps`, each with
 * the permissions of which an administrator needs one. Errors have Strapi's form. One file of `admin/` for each topic.
 */
export const adminRoutes = {
  ...siteRoutes,
  ...appRoutes,
  ...recordRoutes,
  ...draftRoutes,
  ...historyRoutes,
  ...columnRoutes,
  ...indexRoutes,
  ...optionRoutes,
  ...ruleRoutes,
  ...runRoutes,
  ...jobRoutes,
  ...tileRoutes,
  ...archiveRoutes,
  ...whyRoutes,
  ...codeRoutes,
  ...auditRoutes,
  ...personRoutes,
};

export type AdminRoute = keyof typeof adminRoutes;

export * from './admin/apps';
export * from './admin/archives';
export * from './admin/audit';
export * from './admin/code';
export * from './admin/columns';
export * from './admin/drafts';
export * from './admin/history';
export * from './admin/indexes';
export * from './admin/jobs';
export * from './admin/options';
export * from './admin/permissions';
export * from './admin/persons';
export * from './admin/problems';
export * from './admin/records';
export * from './admin/rules';
export * from './admin/runs';
export * from './admin/sites';
export * from './admin/tiles';
export * from './admin/values';
export * from './admin/why';
