import type {
  AppDetail,
  AppOptions,
  IndexSizes,
  OptionsChange,
  Refresh,
  RefreshRequest,
} from '../../../shared/admin-api';
import { type AppKey, appsApi, request } from './base';

const keyOf = ({ site, app }: AppKey) => ({ site, app });

/** Endpoints of an app, its options and its indexes (shared/admin/apps.ts, options.ts, indexes.ts). */
export const { useAppsAppQuery, useAppsSetOptionsMutation, useAppsRefreshMutation, useLazyAppsIndexSizesQuery } =
  appsApi.injectEndpoints({
    endpoints: (build) => ({
      appsApp: build.query<AppDetail, AppKey>({
        query: (key) => request('app', keyOf(key)),
        providesTags: ['AppsApp'],
      }),
      appsSetOptions: build.mutation<AppOptions, AppKey & OptionsChange>({
        query: ({ options, ...key }) => request('setOptions', keyOf(key), { data: { options } }),
        invalidatesTags: ['AppsApp'],
      }),
      appsIndexSizes: build.query<IndexSizes, AppKey>({ query: (key) => request('indexSizes', keyOf(key)) }),
      appsRefresh: build.mutation<Refresh, AppKey & RefreshRequest>({
        query: ({ rebuild, ...key }) => request('refresh', keyOf(key), { data: { rebuild } }),
        invalidatesTags: ['AppsApp'],
      }),
    }),
  });
