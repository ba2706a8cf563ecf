import { appRoutes, indexRoutes, optionRoutes, siteRoutes, tileRoutes } from './admin/apps';
import { archiveRoutes, codeRoutes } from './admin/code';
import { personRoutes } from './admin/persons';
import { columnRoutes, draftRoutes, historyRoutes, recordRoutes } from './admin/records';
import { jobRoutes, ruleRoutes, runRoutes } from './admin/runs';
import { auditRoutes, whyRoutes } from './admin/why';

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
export * from './admin/code';
export * from './admin/permissions';
export * from './admin/persons';
export * from './admin/records';
export * from './admin/runs';
export * from './admin/why';
