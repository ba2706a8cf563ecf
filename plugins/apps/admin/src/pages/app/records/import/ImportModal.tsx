import { Button, Field, Flex, Modal, ProgressBar, Typography } from '@strapi/design-system';
import { type ChangeEvent, useEffect, useState } from 'react';
import type { AppDetail, ImportPreview } from '../../../../../../shared/admin-api';
import { useAction } from '../../../../api/base';
import {
  useAppsImportedMutation,
  useAppsImportRecordsMutation,
  useAppsImportStateQuery,
  useAppsPreviewImportMutation,
} from '../../../../api/records';
import { useText } from '../../../../plugin';
import { type Choices, ImportChoices } from './ImportChoices';
import { ImportMapping } from './ImportMapping';

/** Milliseconds between two requests for the progress. */
const POLL = 700;

type Mapping = Record<string, string | null>;

const isTable = ({ name }: File): boolean => /\.(?:csv|tsv|xlsx)$/i.test(name);

/** Imports records from a file: its columns are mapped to items, and every line is checked before anything is stored. */
export default function ImportModal({ app, onClose }: { app: AppDetail; onClose(): void }) {
  const text = useText();
  const act = useAction();
  const key = { site: app.site, app: app.id };
  const [file, setFile] = useState<File | null>(null);
  const [mapping, setMapping] = useState<Mapping>({});
  const [choices, setChoices] = useState<Choices>({});
  const [preview, setPreview] = useState<ImportPreview | null>(null);
  const [started, setStarted] = useState(false);
  const [check, checking] = useAppsPreviewImportMutation();
  const [send, sending] = useAppsImportRecordsMutation();
  const look = async (file: File, mapping: Mapping, choices: Choices) => {
    const found = await act(() => check({ ...key, file, mapping, choices }).unwrap());
    setPreview(found ?? null);
  };
  const choose = ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [chosen] = target.files ?? [];
    if (!chosen) return;
    setFile(chosen);
    setMapping({});
    setChoices({});
    look(chosen, {}, {});
  };
  const change = (changed: Mapping) => {
    setMapping(changed);
    if (file) look(file, changed, choices);
  };
  const decide = (changed: Choices) => {
    setChoices(changed);
    // With another separator or sheet the columns are others.
    const isSame = changed.separator === choices.separator && changed.sheet === choices.sheet;
    const kept = isSame ? mapping : {};
    setMapping(kept);
    if (file) look(file, kept, changed);
  };
  const start = async () => {
    if (file && (await act(() => send({ ...key, file, mapping, choices }).unwrap()))) setStarted(true);
  };
  const isReady = preview !== null && preview.wrong === 0 && preview.records > 0;
  return (
    <Modal.Root open onOpenChange={(open: boolean) => !open && onClose()}>
      <Modal.Content aria-describedby={undefined}>
        <Modal.Header>
          <Modal.Title>{text('import')}</Modal.Title>
        </Modal.Header>
        <Modal.Body>
          {started ? (
            <Progress app={app} />
          ) : (
            <Flex direction="column" alignItems="stretch" gap={4}>
              <Field.Root hint={text('import.hint')}>
                <Field.Label>{text('import.file')}</Field.Label>
                <input
                  type="file"
                  accept=".csv,.tsv,.xlsx,.ndjson,.jsonl"
                  aria-label={text('import.file')}
                  onChange={choose}
                />
                <Field.Hint />
              </Field.Root>
              {file && isTable(file) && (
                <ImportChoices
                  app={app}
                  preview={preview}
                  isText={!/\.xlsx$/i.test(file.name)}
                  choices={choices}
                  onChange={decide}
                />
              )}
              {preview && <ImportMapping preview={preview} mapping={mapping} columns={app.columns} onChange={change} />}
            </Flex>
          )}
        </Modal.Body>
        <Modal.Footer>
          <Button variant="tertiary" onClick={onClose}>
            {text('close')}
          </Button>
          {!started && (
            <Button onClick={start} disabled={!isReady} loading={checking.isLoading || sending.isLoading}>
              {preview ? text('import.start', { count: preview.records }) : text('import')}
            </Button>
          )}
        </Modal.Footer>
      </Modal.Content>
    </Modal.Root>
  );
}

/** The progress of the import, and how it ends. */
function Progress({ app }: { app: AppDetail }) {
  const text = useText();
  const [ended, setEnded] = useState(false);
  const key = { site: app.site, app: app.id };
  const { data } = useAppsImportStateQuery(key, { pollingInterval: ended ? 0 : POLL });
  const isOver = data !== undefined && data.state !== 'running';
  const [refetch] = useAppsImportedMutation();
  useEffect(() => {
    if (!isOver) return;
    setEnded(true);
    refetch();
  }, [isOver, refetch]);
  if (!data || data.state === 'running') {
    const { done = 0, total = 0 } = data ?? {};
    return (
      <Flex gap={3}>
        <ProgressBar aria-label={text('import')} value={total > 0 ? Math.round((100 * done) / total) : 0} />
        <Typography>{text('refresh.progress', { done, total })}</Typography>
      </Flex>
    );
  }
  if (data.state === 'done') return <Typography role="status">{text('import.done', { count: data.done })}</Typography>;
  return (
    <Typography role="alert" textColor="danger600">
      {data.line === null ? data.message : text('import.failed', { line: data.line, message: data.message ?? '' })}
    </Typography>
  );
}
