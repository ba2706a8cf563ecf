import type {
  AppDetail,
  AppOptions,
  ArchiveResult,
  BlockChoice,
  HandOver,
  IndexSizes,
  LinkInput,
  OptionsChange,
  Overview,
  Preview,
  Refresh,
  RefreshRequest,
  Rule,
  RuleChoices,
  RuleInput,
  RuleTarget,
  SiteOverview,
  ThemeChange,
  ThemePreview,
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
        query: ({ site, app, ...data }) => request('setOptions', { site, app }, { data }),
        invalidatesTags: ['AppsApp'],
      }),
      appsIndexSizes: build.query<IndexSizes, AppKey>({ query: (key) => request('indexSizes', keyOf(key)) }),
      appsRefresh: build.mutation<Refresh, AppKey & RefreshRequest>({
        query: ({ rebuild, ...key }) => request('refresh', keyOf(key), { data: { rebuild } }),
        invalidatesTags: ['AppsApp'],
      }),
    }),
  });

/** Files of themes have changed: apps and blocks, and what they say, too. */
const changed = ['AppsSite', 'AppsApp', 'AppsFile', 'AppsRule'] as const;

interface ArchiveArgument {
  file: File;
  /** The theme that gets an app; without it the ZIP must hold a theme. */
  theme?: string;
  write: boolean;
  replace: string | null;
  /** Its tests run while it is checked. */
  tests?: boolean;
}

function formOf({ file, ...options }: ArchiveArgument): FormData {
  const form = new FormData();
  form.append('options', JSON.stringify({ name: file.name, ...options }));
  form.append('files', file);
  return form;
}

/** Endpoints of themes and apps as files (shared/admin/code.ts). */
export const { useAppsImportArchiveMutation, useAppsCreateLinkMutation, useAppsDeleteLinkMutation } =
  appsApi.injectEndpoints({
    endpoints: (build) => ({
      appsImportArchive: build.mutation<ArchiveResult, ArchiveArgument>({
        query: (argument) => request('importArchive', {}, { data: formOf(argument) }),
        invalidatesTags: (done) => (done?.state === 'written' ? changed : []),
      }),
      appsCreateLink: build.mutation<LinkInput, { into: string } & LinkInput>({
        query: ({ into, ...data }) => request('createLink', { theme: into }, { data }),
        invalidatesTags: changed,
      }),
      appsDeleteLink: build.mutation<{ success: 'deleted' }, { from: string; app: string }>({
        query: ({ from, app }) => request('deleteLink', { theme: from }, { params: { app } }),
        invalidatesTags: changed,
      }),
    }),
  });

/** Endpoints of sites and themes (shared/admin/apps.ts). */
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

/** Endpoints of the custom field for tiles (shared/admin/apps.ts). */
export const { useAppsBlocksQuery } = appsApi.injectEndpoints({
  endpoints: (build) => ({
    appsBlocks: build.query<BlockChoice[], void>({ query: () => request('blocks'), providesTags: ['AppsApp'] }),
  }),
});

/** Endpoints of rules on events (shared/admin/runs.ts). */
export const {
  useAppsRulesQuery,
  useAppsRuleChoicesQuery,
  useAppsRuleFunctionsQuery,
  useAppsCreateRuleMutation,
  useAppsUpdateRuleMutation,
  useAppsDeleteRuleMutation,
} = appsApi.injectEndpoints({
  endpoints: (build) => ({
    appsRules: build.query<Rule[], void>({ query: () => request('rules'), providesTags: ['AppsRule'] }),
    appsRuleChoices: build.query<RuleChoices, void>({
      query: () => request('ruleChoices'),
      providesTags: ['AppsApp', 'AppsSite'],
    }),
    appsRuleFunctions: build.query<string[], RuleTarget>({
      query: ({ app, block }) => request('ruleFunctions', {}, { params: { app, block } }),
      providesTags: ['AppsApp', 'AppsFile'],
    }),
    appsCreateRule: build.mutation<Rule, RuleInput>({
      query: (data) => request('createRule', {}, { data }),
      invalidatesTags: ['AppsRule'],
    }),
    appsUpdateRule: build.mutation<Rule, { rule: string; changes: Partial<RuleInput> }>({
      query: ({ rule, changes }) => request('updateRule', { rule }, { data: changes }),
      invalidatesTags: ['AppsRule'],
    }),
    appsDeleteRule: build.mutation<{ success: 'deleted' }, { rule: string }>({
      query: ({ rule }) => request('deleteRule', { rule }),
      invalidatesTags: ['AppsRule'],
    }),
  }),
});
