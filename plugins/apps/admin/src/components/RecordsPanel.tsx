import { Button, Field, Flex, TextInput, Typography } from '@strapi/design-system';
import { type FormEvent, useCallback, useState } from 'react';
import type { AppDetail } from '../../../shared/admin-api';
import { useAction, useApi, useLoaded } from '../api';
import { useText } from '../plugin';
import { RecordsTable } from './RecordsTable';

const pageSize = 20;

/** Browses and searches an app's records; single ones can be deleted. */
export function RecordsPanel({ app, onChange }: { app: AppDetail; onChange(): void }) {
  const text = useText();
  const api = useApi();
  const act = useAction();
  const [entered, setEntered] = useState('');
  const [{ query, offset }, setView] = useState({ query: '', offset: 0 });
  const key = { site: app.site, app: app.id };
  const load = useCallback(
    () => api.records({ site: app.site, app: app.id }, { query, offset, limit: pageSize }),
    [api, app.site, app.id, query, offset],
  );
  const { data, error, reload } = useLoaded(load);

  const search = (event: FormEvent) => {
    event.preventDefault();
    setView({ query: entered.trim(), offset: 0 });
  };
  const remove = async (id: string, onDelete: boolean) => {
    await act(() => api.deleteRecord(key, id, onDelete), text('deleted'));
    if (data?.records.length === 1) setView({ query, offset: Math.max(0, offset - pageSize) });
    reload();
    onChange();
  };
  const total = data?.total ?? 0;
  const last = Math.min(offset + pageSize, total);
  return (
    <Flex direction="column" alignItems="stretch" gap={4}>
      <Flex tag="form" role="search" onSubmit={search} gap={2} alignItems="flex-start">
        <Field.Root hint={text('search.hint')} error={error ?? undefined} flex="1">
          <Field.Label>{text('search.label')}</Field.Label>
          <TextInput
            value={entered}
            onChange={(event: { target: { value: string } }) => setEntered(event.target.value)}
          />
          <Field.Hint />
          <Field.Error />
        </Field.Root>
        <Button type="submit" size="L" marginTop={5}>
          {text('search')}
        </Button>
      </Flex>
      {data && !error && <RecordsTable records={data.records} onDelete={remove} />}
      {total > 0 && !error && (
        <Flex gap={2} justifyContent="flex-end">
          <Typography role="status">{text('records.range', { from: offset + 1, to: last, total })}</Typography>
          <Button
            variant="tertiary"
            disabled={offset === 0}
            onClick={() => setView({ query, offset: Math.max(0, offset - pageSize) })}
          >
            {text('previous')}
          </Button>
          <Button variant="tertiary" disabled={last >= total} onClick={() => setView({ query, offset: last })}>
            {text('next')}
          </Button>
        </Flex>
      )}
    </Flex>
  );
}
