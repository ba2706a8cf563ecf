import {
  adminApi,
  type BaseQueryError,
  type QueryArguments,
  useAPIErrorHandler,
  useNotification,
} from '@strapi/strapi/admin';
import { useCallback, useEffect, useState } from 'react';
import { type AdminRoute, adminRoutes } from '../../../shared/admin-api';
import { pluginId } from '../plugin';

/** An app of a site, as the paths of routes name it. */
export interface AppKey {
  site: string;
  app: string;
}

/**
 * Strapi's own interface to the server, to which each topic adds its endpoints. All plugins share their names: ours begin
 * with `apps`.
 */
export const appsApi = adminApi.enhanceEndpoints({
  addTagTypes: ['AppsSite', 'AppsApp', 'AppsRecord', 'AppsRule', 'AppsFile', 'AppsRun', 'AppsJob', 'AppsColumns'],
});

/** Address of a route with its `:parameters` filled in. */
export function address(route: AdminRoute, parameters: Record<string, string> = {}): string {
  const filled = adminRoutes[route].path.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(parameters[name] ?? ''),
  );
  return `/${pluginId}${filled}`;
}

/**
 * Parameters of an address as Strapi wants them, which writes them into it as they are: a `&` or `#` in a query, or in the id of a
 * record, would name something else.
 */
export function encoded(params: object): Record<string, unknown> {
  const encode = (value: unknown) => (typeof value === 'string' ? encodeURIComponent(value) : value);
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, encode(value)]));
}

/** The request of an endpoint. @param key the parameters of the route's path */
export function request(
  route: AdminRoute,
  key: Record<string, string> = {},
  { params = {}, data }: { params?: object; data?: unknown } = {},
): QueryArguments {
  const { method } = adminRoutes[route];
  return { url: address(route, key), method, data, config: { params: encoded(params) } };
}

/** What an endpoint fails with: an error of the server, or of the network. */
export interface PanelError {
  name?: string;
  message?: string;
  details?: unknown;
}

/** Gives the text of an endpoint's error for the administrator; null without one. */
export function useErrorText(): (error: unknown) => string | null {
  const { _unstableFormatAPIError: format } = useAPIErrorHandler();
  return useCallback((error) => (error ? format(error as BaseQueryError) : null), [format]);
}

/** Runs a change of the administrator, and shows its success or failure in a notification; undefined where it failed. */
export function useAction() {
  const textOf = useErrorText();
  const { toggleNotification } = useNotification();
  return useCallback(
    async <T>(work: () => Promise<T>, done?: string): Promise<T | undefined> => {
      try {
        const result = await work();
        if (done) toggleNotification({ type: 'success', message: done });
        return result;
      } catch (error) {
        toggleNotification({ type: 'danger', message: textOf(error) ?? String(error) });
        return undefined;
      }
    },
    [textOf, toggleNotification],
  );
}

/** Milliseconds between two requests of a list that is shown. */
const INTERVAL = 2_000;

/** The `pollingInterval` of a query whose answer changes by itself: 0, for none, while the page cannot be seen. */
export function usePolling(isWanted = true): number {
  const [isVisible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const note = () => setVisible(!document.hidden);
    document.addEventListener('visibilitychange', note);
    return () => document.removeEventListener('visibilitychange', note);
  }, []);
  return isWanted && isVisible ? INTERVAL : 0;
}
