import type { RightsMatrix, Why, WhyQuery } from '../../../shared/admin-api';
import { type AppKey, appsApi, request } from './base';

/** Endpoints that explain rights (shared/admin/why.ts). */
export const { useAppsWhyQuery, useAppsRightsMatrixQuery } = appsApi.injectEndpoints({
  endpoints: (build) => ({
    appsWhy: build.query<Why, WhyQuery>({
      query: (params) => request('why', {}, { params }),
      providesTags: ['AppsApp', 'AppsFile'],
    }),
    appsRightsMatrix: build.query<RightsMatrix, AppKey>({
      query: ({ site, app }) => request('rightsMatrix', { site, app }),
      providesTags: ['AppsApp', 'AppsFile'],
    }),
  }),
});
