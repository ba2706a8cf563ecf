import { Box, Button, Field, Flex, Modal, Typography } from '@strapi/design-system';
import { Page } from '@strapi/strapi/admin';
import { useState } from 'react';
import type { AppDetail, HistoryChange, UndoRecord } from '../../../../shared/admin-api';
import { useAction, useErrorText } from '../../api/base';
import { useAppsHistoryQuery, useAppsUndoMutation, useAppsUndoPlanQuery } from '../../api/records';
import { DataTable, OlderEntries } from '../../components/DataTable';
import { useMay } from '../../permissions';
import { type TextKey, useText } from '../../plugin';
import { useDebouncedValue } from '../../use-debounced';
import { HistoryTable, useAuthor } from './HistoryTable';

/** A time as a field of the browser has it: by the clock of the administrator, in seconds. */
function localTime(iso: string): string {
  const time = new Date(iso);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

interface UndoModalProps {
  app: AppDetail;
  /** The change with which it begins. */
  from: HistoryChange;
  onClose(): void;
}

/** Shows what undoing all that one requester has done since a time would do, and what others have built on it; then does it. */
export function UndoModal({ app, from, onClose }: UndoModalProps) {
  const text = useText();
  const textOf = useErrorText();
  const act = useAction();
  const authorOf = useAuthor();
  const [since, setSince] = useState(from.at);
  const [undo, { isLoading }] = useAppsUndoMutation();
  const asked = { site: app.site, app: app.id, requester: from.by?.identity ?? 'anonymous', since };
  // Of this time alone: the plan of another one must not be confirmed.
  const { currentData: data, error } = useAppsUndoPlanQuery(asked, { refetchOnMountOrArgChange: true });
  const enter = (local: string) => {
    const time = new Date(local);
    if (!Number.isNaN(time.getTime())) setSince(time.toISOString());
  };
  const confirm = async () => {
    if (!data) return;
    const done = await act(() => undo({ ...asked, version: data.version }).unwrap(), text('history.undone'));
    if (done) onClose();
  };
  const isNothing = data?.records.every(({ does }) => does === 'kept') ?? true;
  return (
    <Modal.Root open onOpenChange={(open: boolean) => !open && onClose()}>
      <Modal.Content aria-describedby={undefined}>
        <Modal.Header>
          <Modal.Title>{text('history.undo', { name: authorOf(from) })}</Modal.Title>
        </Modal.Header>
        <Modal.Body>
          <Flex direction="column" alignItems="stretch" gap={4}>
            <Field.Root name="since">
              <Field.Label>{text('history.since')}</Field.Label>
              <Field.Input
                type="datetime-local"
                step={1}
                defaultValue={localTime(since)}
                onChange={({ target }) => enter(target.value)}
              />
            </Field.Root>
            {error !== undefined && (
              <Typography role="alert" textColor="danger600">
                {textOf(error)}
              </Typography>
            )}
            {data ? <Plan records={data.records} /> : error === undefined && <Page.Loading />}
          </Flex>
        </Modal.Body>
        <Modal.Footer>
          <Button variant="tertiary" onClick={onClose}>
            {text('cancel')}
          </Button>
          <Button onClick={confirm} disabled={isNothing} loading={isLoading}>
            {text('history.undo.do')}
          </Button>
        </Modal.Footer>
      </Modal.Content>
    </Modal.Root>
  );
}

function Plan({ records }: { records: UndoRecord[] }) {
  const text = useText();
  const authorOf = useAuthor();
  return (
    <DataTable
      label={text('history.undo.plan')}
      empty={text('history.none')}
      rows={records}
      rowKey={({ id }) => id}
      columns={[
        { title: text('record'), cell: ({ id }) => id },
        {
          title: text('history.undo.does'),
          cell: ({ does, items }) => text(`history.does.${does}` as TextKey, { items: items.join(', ') }),
        },
        {
          title: text('history.later'),
          cell: ({ later }) => (
            <Box>
              {later.map((change) => (
                <div key={`${change.at} ${change.through}`}>
                  {`${new Date(change.at).toLocaleString()}, ${authorOf(change)}: ${change.items.join(', ')}`}
                </div>
              ))}
            </Box>
          ),
        },
      ]}
    />
  );
}

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
      <OlderEntries before={before} older={data?.older} onChoose={setBefore} />
      {undone && <UndoModal app={app} from={undone} onClose={() => setUndone(null)} />}
    </Flex>
  );
}
