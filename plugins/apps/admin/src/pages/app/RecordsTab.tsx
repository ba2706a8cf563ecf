import { Button, Field, Flex, TextInput, Typography } from '@strapi/design-system';
import { type FormEvent, useState } from 'react';
import type { AppDetail } from '../../../../shared/admin-api';
import { useAction, useErrorText } from '../../api/base';
import { useAppsDeleteRecordMutation, useAppsRecordsQuery } from '../../api/records';
import { useText } from '../../plugin';
import { RecordsTable } from './RecordsTable';

const pageSize = 20;

/** Browses and searches an app's records; single ones can be deleted. */
export default function RecordsTab({ app }: { app: AppDetail }) {
  const text = useText();
  const textOf = useErrorText();
  const act = useAction();
  const [entered, setEntered] = useState('');
  const [{ query, offset }, setView] = useState({ query: '', offset: 0 });
  const key = { site: app.site, app: app.id };
  const { data, error: failure } = useAppsRecordsQuery({ ...key, query, offset, limit: pageSize });
  const error = textOf(failure);
  const [deleteRecord] = useAppsDeleteRecordMutation();

  const search = (event: FormEvent) => {
    event.preventDefault();
    setView({ query: entered.trim(), offset: 0 });
  };
  const remove = async (id: string, onDelete: boolean) => {
    await act(() => deleteRecord({ ...key, id, onDelete }).unwrap(), text('deleted'));
    if (data?.records.length === 1) setView({ query, offset: Math.max(0, offset - pageSize) });
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
