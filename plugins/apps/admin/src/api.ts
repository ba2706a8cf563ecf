import { useAPIErrorHandler, useFetchClient, useNotification } from '@strapi/strapi/admin';
import { useCallback, useEffect, useMemo, useState } from 'react';
import {
  type AdminRoute,
  type AppDetail,
  type AppOptions,
  adminRoutes,
  type BlockChoice,
  type HandOver,
  type OptionsChange,
  type Overview,
  type RecordsPage,
  type RecordsQuery,
  type Refresh,
  type RefreshRequest,
  type Rule,
  type RuleChoices,
  type RuleInput,
  type RuleTarget,
  type SiteOverview,
  type ThemeChange,
} from '../../shared/admin-api';
import { pluginId } from './plugin';

interface AppKey {
  site: string;
  app: string;
}

/** Parameters of the routes' paths. */
interface PathParameters extends AppKey {
  /** Id of a rule. */
  rule: string;
}

/** Address of a route with its `:parameters` filled in. */
function address(route: AdminRoute, parameters: Partial<PathParameters> = {}): string {
  const filled = adminRoutes[route].path.replace(/:(\w+)/g, (_, name: keyof PathParameters) =>
    encodeURIComponent(parameters[name] ?? ''),
  );
  return `/${pluginId}${filled}`;
}

/** The plugin's admin routes as functions; each rejects with Strapi's fetch error. */
export function useApi() {
  const { get, put, post, del } = useFetchClient();
  return useMemo(
    () => ({
      overview: async () => (await get<Overview>(address('overview'))).data,
      blocks: async () => (await get<BlockChoice[]>(address('blocks'))).data,
      setTheme: async (site: string, change: ThemeChange) =>
        (await put<SiteOverview>(address('setTheme', { site }), change)).data,
      handOver: async (site: string) => (await post<HandOver>(address('handOver', { site }))).data,
      app: async (key: AppKey) => (await get<AppDetail>(address('app', key))).data,
      records: async (key: AppKey, params: RecordsQuery) =>
        (await get<RecordsPage>(address('records', key), { params })).data,
      deleteRecord: async (key: AppKey, id: string, onDelete: boolean) => {
        await del(address('deleteRecord', key), { params: { id, on_delete: onDelete } });
      },
      setOptions: async (key: AppKey, change: OptionsChange) =>
        (await put<AppOptions>(address('setOptions', key), change)).data,
      refresh: async (key: AppKey, request: RefreshRequest) =>
        (await post<Refresh>(address('refresh', key), request)).data,
      rules: async () => (await get<Rule[]>(address('rules'))).data,
      ruleChoices: async () => (await get<RuleChoices>(address('ruleChoices'))).data,
      ruleFunctions: async (params: RuleTarget) => (await get<string[]>(address('ruleFunctions'), { params })).data,
      createRule: async (input: RuleInput) => (await post<Rule>(address('createRule'), input)).data,
      updateRule: async (rule: string, input: Partial<RuleInput>) =>
        (await put<Rule>(address('updateRule', { rule }), input)).data,
      deleteRule: async (rule: string) => {
        await del(address('deleteRule', { rule }));
      },
    }),
    [get, put, post, del],
  );
}

export type Api = ReturnType<typeof useApi>;

export interface Loaded<T> {
  /** Undefined until it is loaded; kept while it is loaded again. */
  data: T | undefined;
  /** The reason for which it could not be loaded, as a text for the administrator. */
  error: string | null;
  reload(): void;
}

export type FetchError = Parameters<ReturnType<typeof useAPIErrorHandler>['formatAPIError']>[0];

/** Calls `load`, again whenever it changes (keep it with useCallback) and on `reload`. */
export function useLoaded<T>(load: () => Promise<T>): Loaded<T> {
  const { formatAPIError } = useAPIErrorHandler();
  const [state, setState] = useState<{ data: T | undefined; error: string | null }>({ data: undefined, error: null });
  const [reloads, setReloads] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `reloads` loads again; formatAPIError is new at every render
  useEffect(() => {
    let current = true;
    load().then(
      (data) => current && setState({ data, error: null }),
      (error: FetchError) => current && setState(({ data }) => ({ data, error: formatAPIError(error) })),
    );
    return () => {
      current = false;
    };
  }, [load, reloads]);
  const reload = useCallback(() => setReloads((previous) => previous + 1), []);
  return { ...state, reload };
}

/** Runs an action of the administrator, and shows its success or failure in a notification. */
export function useAction() {
  const { formatAPIError } = useAPIErrorHandler();
  const { toggleNotification } = useNotification();
  return async <T>(work: () => Promise<T>, done?: string): Promise<T | undefined> => {
    try {
      const result = await work();
      if (done) toggleNotification({ type: 'success', message: done });
      return result;
    } catch (error) {
      toggleNotification({ type: 'danger', message: formatAPIError(error as FetchError) });
      return undefined;
    }
  };
}
