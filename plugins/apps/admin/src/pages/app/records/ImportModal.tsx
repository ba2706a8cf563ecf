import {
  Box,
  Button,
  Field,
  Flex,
  Modal,
  ProgressBar,
  SingleSelect,
  SingleSelectOption,
  TextInput,
  Typography,
} from '@strapi/design-system';
import { type ChangeEvent, useEffect, useRef, useState } from 'react';
import type {
  AppDetail,
  ColumnSummary,
  ImportOptions,
  ImportPreview,
  ImportState,
} from '../../../../../shared/admin-api';
import { encodings, separatorNames } from '../../../../../shared/cells';
import { useAction } from '../../../api/base';
import {
  useAppsImportedMutation,
  useAppsImportRecordsMutation,
  useAppsImportStateQuery,
  useAppsPreviewImportMutation,
} from '../../../api/records';
import { DataTable } from '../../../components/DataTable';
import { Pre } from '../../../components/page';
import { useText } from '../../../plugin';

/** What is chosen about a file; what is left out is found in it. */
type Choices = Omit<ImportOptions, 'name' | 'mapping'>;

/** Languages in which tables are written, besides that of the file itself. */
const LANGUAGES = ['en', 'en-GB', 'de', 'de-CH', 'fr', 'es', 'it', 'nl', 'pt', 'pl'];

interface ImportChoicesProps {
  app: AppDetail;
  /** Of a file that could be read. */
  preview: ImportPreview | null;
  isText: boolean;
  choices: Choices;
  onChange(choices: Choices): void;
}

interface ChoiceProps {
  label: string;
  /** What is meant without a choice. */
  usual: string;
  value: string | undefined;
  options: readonly (readonly [value: string, label: string])[];
  onChange(value: string | undefined): void;
}

function Choice({ label, usual, value, options, onChange }: ChoiceProps) {
  return (
    <Field.Root minWidth="12rem">
      <Field.Label>{label}</Field.Label>
      <SingleSelect value={value ?? ''} onChange={(chosen) => onChange(String(chosen) || undefined)}>
        <SingleSelectOption value="">{usual}</SingleSelectOption>
        {options.map(([one, shown]) => (
          <SingleSelectOption key={one} value={one}>
            {shown}
          </SingleSelectOption>
        ))}
      </SingleSelect>
    </Field.Root>
  );
}

/** How a table is written, where it does not say so itself, and the block of its records. */
function ImportChoices({ app, preview, isText, choices, onChange }: ImportChoicesProps) {
  const text = useText();
  const names = new Intl.DisplayNames([document.documentElement.lang || 'en'], { type: 'language' });
  const set = (name: keyof Choices) => (value: string | undefined) => {
    const { [name]: _before, ...others } = choices;
    onChange(value === undefined ? others : { ...others, [name]: value });
  };
  const found = text('import.found');
  const named = (one: (typeof separatorNames)[number]) => text(`import.separator.${one}`);
  const separator = preview?.separator ? `${found}: ${named(preview.separator)}` : found;
  const encoding = preview?.encoding ? `${found}: ${preview.encoding}` : found;
  return (
    <Flex gap={4} wrap="wrap" alignItems="flex-start">
      <Choice
        label={text('import.language')}
        usual={text('import.language.none')}
        value={choices.language}
        options={LANGUAGES.map((tag) => [tag, names.of(tag) ?? tag])}
        onChange={set('language')}
      />
      {isText && (
        <>
          <Choice
            label={text('import.separator')}
            usual={separator}
            value={choices.separator}
            options={separatorNames.map((one) => [one, named(one)])}
            onChange={set('separator')}
          />
          <Choice
            label={text('import.encoding')}
            usual={encoding}
            value={choices.encoding}
            options={encodings.map((one) => [one, one])}
            onChange={set('encoding')}
          />
        </>
      )}
      {(preview?.sheets.length ?? 0) > 1 && (
        <Choice
          label={text('import.sheet')}
          usual={preview?.sheets[0] ?? ''}
          value={choices.sheet}
          options={(preview?.sheets ?? []).slice(1).map((one) => [one, one])}
          onChange={set('sheet')}
        />
      )}
      {app.blocks.length > 0 && (
        <Choice
          label={text('import.block')}
          usual={text('import.block.none')}
          value={choices.block}
          options={app.blocks.map(({ id }) => [id, id])}
          onChange={set('block')}
        />
      )}
    </Flex>
  );
}

interface ImportMappingProps {
  preview: ImportPreview;
  mapping: Record<string, string | null>;
  columns: ColumnSummary[];
  onChange(mapping: Record<string, string | null>): void;
}

/** The columns of a file with the items that they become, its first records, and its mistakes by line. */
function ImportMapping({ preview, mapping, columns, onChange }: ImportMappingProps) {
  const text = useText();
  return (
    <Flex direction="column" alignItems="stretch" gap={4}>
      <datalist id="apps-import-items">
        {columns.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <DataTable
        label={text('import.columns')}
        empty=""
        rows={preview.columns}
        rowKey={({ name }) => name}
        columns={[
          { title: text('import.column'), cell: ({ name }) => name },
          { title: text('import.example'), cell: ({ example }) => example },
          {
            title: text('import.item'),
            cell: ({ name, item }) => (
              <Field.Root minWidth="16rem">
                <TextInput
                  key={`${name} ${item}`}
                  aria-label={text('import.item.of', { column: name })}
                  list="apps-import-items"
                  defaultValue={name in mapping ? (mapping[name] ?? '') : (item ?? '')}
                  maxLength={255}
                  onBlur={({ target }: { target: { value: string } }) => {
                    const chosen = target.value.trim() || null;
                    if (chosen !== item) onChange({ ...mapping, [name]: chosen });
                  }}
                />
              </Field.Root>
            ),
          },
          {
            title: text('import.kind'),
            cell: ({ kind }) => (kind === null ? '' : text(`import.kind.${kind}`)),
          },
        ]}
      />
      <Typography textColor="neutral600">{text('import.item.hint')}</Typography>
      {preview.problems.length > 0 && (
        <Box role="alert">
          <Typography textColor="danger600">{text('import.wrong', { count: preview.wrong })}</Typography>
          <ul>
            {preview.problems.map(({ line, message }) => (
              <li key={`${line} ${message}`}>
                <Typography>{text('import.problem', { line, message })}</Typography>
              </li>
            ))}
          </ul>
        </Box>
      )}
      {preview.first.length > 0 && (
        <Pre>{preview.first.map(({ id, items }) => `${id ?? '…'} ${JSON.stringify(items)}`).join('\n')}</Pre>
      )}
    </Flex>
  );
}

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
  const [started, setStarted] = useState<string | null>(null);
  /** The number of the latest check: a slower one before it was of another file or of other choices. */
  const latest = useRef(0);
  const [check, checking] = useAppsPreviewImportMutation();
  const [send, sending] = useAppsImportRecordsMutation();
  const look = async (file: File, mapping: Mapping, choices: Choices) => {
    latest.current += 1;
    const own = latest.current;
    const found = await act(() => check({ ...key, file, mapping, choices }).unwrap());
    if (own === latest.current) setPreview(found ?? null);
  };
  const choose = ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [chosen] = target.files ?? [];
    if (!chosen) return;
    setFile(chosen);
    setPreview(null);
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
    const state = file && (await act(() => send({ ...key, file, mapping, choices }).unwrap()));
    if (state) setStarted(state.id);
  };
  const isReady = preview !== null && preview.wrong === 0 && preview.records > 0;
  return (
    <Modal.Root open onOpenChange={(open: boolean) => !open && onClose()}>
      <Modal.Content aria-describedby={undefined}>
        <Modal.Header>
          <Modal.Title>{text('import')}</Modal.Title>
        </Modal.Header>
        <Modal.Body>
          {started !== null ? (
            <Progress app={app} id={started} />
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
          {started === null && (
            <Button onClick={start} disabled={!isReady} loading={checking.isLoading || sending.isLoading}>
              {preview ? text('import.start', { count: preview.records }) : text('import')}
            </Button>
          )}
        </Modal.Footer>
      </Modal.Content>
    </Modal.Root>
  );
}

/** Milliseconds after which an import that no process knows counts as lost: the process that ran it has ended. */
const LOST_AFTER = 60_000;

/** The progress of the import, and how it ends. One of several server processes runs it: the others do not know it. */
function Progress({ app, id }: { app: AppDetail; id: string }) {
  const text = useText();
  const [ended, setEnded] = useState(false);
  const [known, setKnown] = useState<{ state: ImportState | undefined; at: number }>({
    state: undefined,
    at: Date.now(),
  });
  const asked = { site: app.site, app: app.id, id };
  const { data: latest, fulfilledTimeStamp: at = 0 } = useAppsImportStateQuery(asked, {
    pollingInterval: ended ? 0 : POLL,
  });
  useEffect(() => {
    if (latest && latest.state !== 'none') setKnown({ state: latest, at });
  }, [latest, at]);
  const { state: data, at: knownAt } = known;
  useEffect(() => {
    const timer = setTimeout(() => setEnded(true), knownAt + LOST_AFTER - Date.now());
    return () => clearTimeout(timer);
  }, [knownAt]);
  const isOver = data !== undefined && data.state !== 'running';
  const [refetch] = useAppsImportedMutation();
  useEffect(() => {
    if (!isOver) return;
    setEnded(true);
    refetch();
  }, [isOver, refetch]);
  if (!isOver && ended)
    return (
      <Typography role="alert" textColor="danger600">
        {text('import.lost')}
      </Typography>
    );
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
