import type { RecordsPage, RecordsQuery } from '../../../shared/admin-api';
import { type AppKey, appsApi, request } from './base';

/** Endpoints of an app's records (shared/admin/records.ts). */
export const { useAppsRecordsQuery, useAppsDeleteRecordMutation } = appsApi.injectEndpoints({
  endpoints: (build) => ({
    appsRecords: build.query<RecordsPage, AppKey & RecordsQuery>({
      query: ({ site, app, ...params }) => request('records', { site, app }, { params }),
      providesTags: ['AppsRecord'],
    }),
    appsDeleteRecord: build.mutation<{ success: 'deleted' }, AppKey & { id: string; onDelete: boolean }>({
      query: ({ site, app, id, onDelete }) =>
        request('deleteRecord', { site, app }, { params: { id, on_delete: onDelete } }),
      invalidatesTags: ['AppsRecord', 'AppsApp', 'AppsSite'],
    }),
  }),
});
