import type { HandOver, Overview, Preview, SiteOverview, ThemeChange, ThemePreview } from '../../../shared/admin-api';
import { appsApi, request } from './base';

/** Endpoints of sites and themes (shared/admin/sites.ts). */
export const { useAppsOverviewQuery, useAppsSetThemeMutation, useAppsPreviewThemeMutation, useAppsHandOverMutation } =
  appsApi.injectEndpoints({
    endpoints: (build) => ({
      appsOverview: build.query<Overview, void>({
        query: () => request('overview'),
        providesTags: ['AppsSite'],
      }),
      appsSetTheme: build.mutation<SiteOverview, { site: string } & ThemeChange>({
        query: ({ site, ...data }) => request('setTheme', { site }, { data }),
        invalidatesTags: ['AppsSite', 'AppsApp', 'AppsRecord', 'AppsFile'],
      }),
      appsPreviewTheme: build.mutation<Preview, { site: string } & ThemePreview>({
        query: ({ site, ...data }) => request('previewTheme', { site }, { data }),
      }),
      appsHandOver: build.mutation<HandOver, { site: string }>({
        query: ({ site }) => request('handOver', { site }),
      }),
    }),
  });
