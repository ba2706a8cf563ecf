import type { AuditPage, AuditQuery } from '../../../shared/admin-api';
import { appsApi, request } from './base';

/** Endpoint of the audit log (shared/admin/audit.ts). */
export const { useAppsAuditQuery } = appsApi.injectEndpoints({
  endpoints: (build) => ({
    appsAudit: build.query<AuditPage, AuditQuery>({ query: (params) => request('audit', {}, { params }) }),
  }),
});
