import type { KeptColumns } from '../../../shared/admin-api';
import { type AppKey, appsApi, request } from './base';

/** Endpoints of the administrator's own columns (shared/admin/columns.ts). */
export const { useAppsColumnsQuery, useAppsSetColumnsMutation } = appsApi.injectEndpoints({
  endpoints: (build) => ({
    appsColumns: build.query<KeptColumns, AppKey>({
      query: (key) => request('columns', { ...key }),
      providesTags: ['AppsColumns'],
    }),
    appsSetColumns: build.mutation<KeptColumns, AppKey & KeptColumns>({
      query: ({ site, app, ...data }) => request('setColumns', { site, app }, { data }),
      invalidatesTags: ['AppsColumns'],
    }),
  }),
});
