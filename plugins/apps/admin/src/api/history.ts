import type { HistoryList, HistoryQuery, RestoreInput, UndoPlan, UndoQuery } from '../../../shared/admin-api';
import { type AppKey, appsApi, request } from './base';

/** Changes records: all that shows them or their number is out of date, and there is a version more. */
const changed = ['AppsRecord', 'AppsApp', 'AppsSite'] as const;

/** Endpoints of the history of an app's records (shared/admin/history.ts). */
export const { useAppsHistoryQuery, useAppsRestoreVersionMutation, useAppsUndoPlanQuery, useAppsUndoMutation } =
  appsApi.injectEndpoints({
    endpoints: (build) => ({
      appsHistory: build.query<HistoryList, AppKey & HistoryQuery>({
        query: ({ site, app, ...params }) => request('history', { site, app }, { params }),
        providesTags: ['AppsRecord'],
      }),
      appsRestoreVersion: build.mutation<{ created: boolean }, AppKey & RestoreInput>({
        query: ({ site, app, ...data }) => request('restoreVersion', { site, app }, { data }),
        invalidatesTags: changed,
      }),
      appsUndoPlan: build.query<UndoPlan, AppKey & UndoQuery>({
        query: ({ site, app, ...params }) => request('undoPlan', { site, app }, { params }),
        keepUnusedDataFor: 0,
      }),
      appsUndo: build.mutation<UndoPlan, AppKey & UndoQuery & Pick<UndoPlan, 'version'>>({
        query: ({ site, app, ...data }) => request('undo', { site, app }, { data }),
        invalidatesTags: changed,
      }),
    }),
  });
