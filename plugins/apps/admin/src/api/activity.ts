import type {
  AuditPage,
  AuditQuery,
  CodeTexts,
  DeadJobs,
  JobDetail,
  JobsPage,
  JobsQuery,
  JobsRetried,
  RunAgain,
  RunDetail,
  RunsPage,
  RunsQuery,
  ScheduleSummary,
  ScheduleTarget,
} from '../../../shared/admin-api';
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

/** What a change of jobs makes stale: pages of apps show how many are dead. */
const invalidatesTags = ['AppsJob', 'AppsApp', 'AppsSite'] as const;

/** Endpoints of jobs and schedules (shared/admin/runs.ts). */
export const {
  useAppsJobsQuery,
  useAppsJobQuery,
  useAppsRetryJobMutation,
  useAppsRetryDeadJobsMutation,
  useAppsDeleteJobMutation,
  useAppsSchedulesQuery,
  useAppsRunScheduleMutation,
} = appsApi.injectEndpoints({
  endpoints: (build) => ({
    appsJobs: build.query<JobsPage, JobsQuery>({
      query: (params) => request('jobs', {}, { params }),
      providesTags: ['AppsJob'],
    }),
    appsJob: build.query<JobDetail, string>({ query: (job) => request('job', { job }), providesTags: ['AppsJob'] }),
    appsRetryJob: build.mutation<JobsRetried, string>({
      query: (job) => request('retryJob', { job }),
      invalidatesTags,
    }),
    appsRetryDeadJobs: build.mutation<JobsRetried, DeadJobs>({
      query: (data) => request('retryDeadJobs', {}, { data }),
      invalidatesTags,
    }),
    appsDeleteJob: build.mutation<{ success: 'deleted' }, string>({
      query: (job) => request('deleteJob', { job }),
      invalidatesTags,
    }),
    appsSchedules: build.query<ScheduleSummary[], void>({
      query: () => request('schedules'),
      providesTags: ['AppsJob'],
    }),
    appsRunSchedule: build.mutation<{ job: string }, ScheduleTarget>({
      query: (data) => request('runSchedule', {}, { data }),
      invalidatesTags: ['AppsJob'],
    }),
  }),
});

/** Endpoint of the audit log (shared/admin/why.ts). */
export const { useAppsAuditQuery } = appsApi.injectEndpoints({
  endpoints: (build) => ({
    appsAudit: build.query<AuditPage, AuditQuery>({ query: (params) => request('audit', {}, { params }) }),
  }),
});
