import type { BlockChoice } from '../../../shared/admin-api';
import { appsApi, request } from './base';

/** Endpoints of the custom field for tiles (shared/admin/tiles.ts). */
export const { useAppsBlocksQuery } = appsApi.injectEndpoints({
  endpoints: (build) => ({
    appsBlocks: build.query<BlockChoice[], void>({ query: () => request('blocks'), providesTags: ['AppsApp'] }),
  }),
});
