import type { HandOver, Overview, SiteOverview, ThemeChange } from '../../../shared/admin-api';
import { appsApi, request } from './base';

/** Endpoints of sites and themes (shared/admin/sites.ts). */
export const { useAppsOverviewQuery, useAppsSetThemeMutation, useAppsHandOverMutation } = appsApi.injectEndpoints({
  endpoints: (build) => ({
    appsOverview: build.query<Overview, void>({
      query: () => request('overview'),
      providesTags: ['AppsSite'],
    }),
    appsSetTheme: build.mutation<SiteOverview, { site: string } & ThemeChange>({
      query: ({ site, ...data }) => request('setTheme', { site }, { data }),
      invalidatesTags: ['AppsSite', 'AppsApp', 'AppsRecord', 'AppsFile'],
    }),
    appsHandOver: build.mutation<HandOver, { site: string }>({
      query: ({ site }) => request('handOver', { site }),
    }),
  }),
});
