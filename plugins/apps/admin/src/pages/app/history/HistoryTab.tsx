import { Button, Field, Flex, Typography } from '@strapi/design-system';
import { useState } from 'react';
import type { AppDetail, HistoryChange } from '../../../../../shared/admin-api';
import { useErrorText } from '../../../api/base';
import { useAppsHistoryQuery } from '../../../api/history';
import { useMay } from '../../../permissions';
import { useText } from '../../../plugin';
import { useDebouncedValue } from '../../../use-debounced';
import { HistoryTable } from './HistoryTable';
import { UndoModal } from './UndoModal';

/** What was done to the records of an app, the latest first; single changes are restored, those of one requester undone. */
export default function HistoryTab({ app }: { app: AppDetail }) {
  const text = useText();
  const textOf = useErrorText();
  const mayChange = useMay()(['records']);
  const [entered, setId] = useState('');
  const [before, setBefore] = useState<string>();
  const [undone, setUndone] = useState<HistoryChange | null>(null);
  const id = useDebouncedValue(entered.trim());
  const query = { site: app.site, app: app.id, ...(id && { id }), ...(before && { before }) };
  const { data, error } = useAppsHistoryQuery(query, { refetchOnMountOrArgChange: true, skip: id === undefined });
  return (
    <Flex direction="column" alignItems="stretch" gap={4}>
      <Field.Root name="id" hint={text('history.record.hint')}>
        <Field.Label>{text('record')}</Field.Label>
        <Field.Input
          value={entered}
          maxLength={255}
          onChange={({ target }) => {
            setBefore(undefined);
            setId(target.value);
          }}
        />
        <Field.Hint />
      </Field.Root>
      {error !== undefined && (
        <Typography role="alert" textColor="danger600">
          {textOf(error)}
        </Typography>
      )}
      <HistoryTable app={app} changes={data?.changes ?? []} mayChange={mayChange} onUndo={setUndone} />
      <Flex gap={2}>
        {before && (
          <Button variant="tertiary" onClick={() => setBefore(undefined)}>
            {text('run.latest')}
          </Button>
        )}
        {data?.older && (
          <Button variant="tertiary" onClick={() => setBefore(data.older ?? undefined)}>
            {text('run.older')}
          </Button>
        )}
      </Flex>
      {undone && <UndoModal app={app} from={undone} onClose={() => setUndone(null)} />}
    </Flex>
  );
}
