import { useFetchClient } from '@strapi/strapi/admin';
import { useCallback } from 'react';
import type { ErasedPerson, FoundPerson, PersonQuery } from '../../../shared/admin-api';
import { saveFile } from '../json-files';
import { address, appsApi, request, useAction } from './base';

/** Endpoints of what is stored of a person (shared/admin/persons.ts). */
export const { useAppsFindPersonMutation, useAppsErasePersonMutation } = appsApi.injectEndpoints({
  endpoints: (build) => ({
    // Mutations, so that no cache of the panel keeps what was found.
    appsFindPerson: build.mutation<FoundPerson, PersonQuery>({ query: (data) => request('findPerson', {}, { data }) }),
    appsErasePerson: build.mutation<ErasedPerson, PersonQuery>({
      query: (data) => request('erasePerson', {}, { data }),
      invalidatesTags: ['AppsRecord', 'AppsJob', 'AppsRun'],
    }),
  }),
});

/** Lets the browser save everything of a person as a ZIP. */
export function usePersonExport() {
  const { post } = useFetchClient();
  const act = useAction();
  return useCallback(
    (who: string) =>
      act(async () => {
        const { data } = await post<Blob>(address('exportPerson'), { who }, { responseType: 'blob' });
        saveFile(data, 'person.zip');
      }),
    [act, post],
  );
}
