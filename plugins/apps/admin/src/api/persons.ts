import { useFetchClient } from '@strapi/strapi/admin';
import { useCallback } from 'react';
import { type ErasedPerson, type FoundPerson, PERSON_HEADER, type PersonQuery } from '../../../shared/admin-api';
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
  const { get } = useFetchClient();
  const act = useAction();
  return useCallback(
    (who: string) =>
      act(async () => {
        const headers = { [PERSON_HEADER]: encodeURIComponent(who) };
        const { data } = await get<Blob>(address('exportPerson'), { headers, responseType: 'blob' });
        saveFile(data, 'person.zip');
      }),
    [act, get],
  );
}
