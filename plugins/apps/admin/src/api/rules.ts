import type { Rule, RuleChoices, RuleInput, RuleTarget } from '../../../shared/admin-api';
import { appsApi, request } from './base';

/** Endpoints of rules on events (shared/admin/rules.ts). */
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
