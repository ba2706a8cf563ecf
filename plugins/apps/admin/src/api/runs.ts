import type { CodeTexts, RunAgain, RunDetail, RunsPage, RunsQuery } from '../../../shared/admin-api';
import { appsApi, request } from './base';

/** Endpoints of runs of logic (shared/admin/runs.ts). */
export const { useAppsRunsQuery, useAppsRunQuery, useAppsRunAgainMutation } = appsApi.injectEndpoints({
  endpoints: (build) => ({
    appsRuns: build.query<RunsPage, RunsQuery>({
      query: (params) => request('runs', {}, { params }),
      providesTags: ['AppsRun'],
    }),
    appsRun: build.query<RunDetail, string>({ query: (run) => request('run', { run }) }),
    appsRunAgain: build.mutation<RunAgain, { run: string } & CodeTexts>({
      query: ({ run, ...data }) => request('runAgain', { run }, { data }),
    }),
  }),
});
