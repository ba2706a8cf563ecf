import { Button, Dialog, Flex, MenuItem, Modal, SimpleMenu, Typography } from '@strapi/design-system';
import { Plus } from '@strapi/icons';
import { ConfirmDialog, Pagination, useQueryParams } from '@strapi/strapi/admin';
import { lazy, Suspense, useEffect, useState } from 'react';
import type { AppDetail, DraftSummary, RecordSummary, RecordsQuery } from '../../../../../shared/admin-api';
import { type PanelError, useAction, useErrorText } from '../../../api/base';
import {
  useAppsDeleteDraftMutation,
  useAppsDeleteRecordMutation,
  useAppsDraftsQuery,
  useAppsRecordsQuery,
} from '../../../api/records';
import { DataTable } from '../../../components/DataTable';
import { useMay } from '../../../permissions';
import { useText } from '../../../plugin';
import { ExportMenu, FilterMenu } from './menus';
import { SearchField } from './QueryInput';
import { addressed, both, queryOfAddress } from './query';
import { ColumnsMenu, RecordsTable, useColumns } from './RecordsTable';

interface DraftsProps {
  app: AppDetail;
  mayChange: boolean;
}

/** A button that says how many drafts the forms of an app have, and opens their list; nothing where there are none. */
function DraftsButton({ app, mayChange }: DraftsProps) {
  const text = useText();
  const { data } = useAppsDraftsQuery({ site: app.site, app: app.id }, { refetchOnMountOrArgChange: true });
  if (!data || data.total === 0) return null;
  return (
    <Modal.Root>
      <Modal.Trigger>
        <Button variant="tertiary">{text('drafts.count', { total: data.total })}</Button>
      </Modal.Trigger>
      <Modal.Content>
        <Modal.Header>
          <Modal.Title>{text('drafts')}</Modal.Title>
        </Modal.Header>
        <Modal.Body>
          <Typography>{text('drafts.hint')}</Typography>
          <DraftsTable app={app} mayChange={mayChange} drafts={data.drafts} />
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

function DraftsTable({ app, mayChange, drafts }: DraftsProps & { drafts: DraftSummary[] }) {
  const text = useText();
  return (
    <DataTable
      label={text('drafts')}
      empty={text('drafts.none')}
      rows={drafts}
      rowKey={({ id }) => id}
      columns={[
        { title: text('block'), cell: ({ block }) => block },
        { title: text('run.requester'), cell: ({ owner }) => owner?.name ?? text('creator.anonymous') },
        { title: text('drafts.saved'), cell: ({ savedAt }) => new Date(savedAt).toLocaleString() },
        { title: text('drafts.ends'), cell: ({ endsAt }) => new Date(endsAt).toLocaleString() },
        { title: text('drafts.size'), cell: ({ bytes }) => `${Math.ceil(bytes / 1000)} kB` },
        ...(mayChange
          ? [
              {
                title: text('history.actions'),
                cell: (draft: DraftSummary) => <DeleteButton app={app} draft={draft} />,
              },
            ]
          : []),
      ]}
    />
  );
}

function DeleteButton({ app, draft }: { app: AppDetail; draft: DraftSummary }) {
  const text = useText();
  const act = useAction();
  const [deleteDraft] = useAppsDeleteDraftMutation();
  const remove = async () => {
    await act(() => deleteDraft({ site: app.site, app: app.id, id: draft.id }).unwrap(), text('drafts.deleted'));
  };
  return (
    <Dialog.Root>
      <Dialog.Trigger>
        <Button variant="danger-light" size="S">
          {text('delete')}
        </Button>
      </Dialog.Trigger>
      <ConfirmDialog onConfirm={remove}>{text('drafts.delete.confirm')}</ConfirmDialog>
    </Dialog.Root>
  );
}

const RecordModal = lazy(() => import('./RecordModal'));
const ImportModal = lazy(() => import('./ImportModal'));

/** The parameters of the page's address; Strapi's table and pagination set them. */
interface Parameters {
  page?: string;
  pageSize?: string;
  sort?: string;
  q?: string;
}

const none: RecordSummary[] = [];

function queryOf({ page = '1', pageSize = '20', sort = '', q = '' }: Parameters): RecordsQuery {
  const limit = Math.min(100, Math.max(1, Number(pageSize) || 20));
  const [index, direction] = sort.split(':');
  return {
    query: queryOfAddress(q),
    limit,
    offset: (Math.max(1, Number(page) || 1) - 1) * limit,
    ...(index ? { sort: index, reverse: direction === 'DESC' } : {}),
  };
}

/** What is open over the list: a record by its id, a new one by the form of a block or as JSON, or an import. */
type Opened = { kind: 'record'; id: string } | { kind: 'new'; block: string | null } | { kind: 'import' } | null;

/** An app's records: searched, sorted, changed, imported and exported. */
export default function RecordsTab({ app }: { app: AppDetail }) {
  const text = useText();
  const may = useMay();
  const act = useAction();
  const textOf = useErrorText();
  const [opened, setOpened] = useState<Opened>(null);
  const [{ query: given }, setGiven] = useQueryParams<Parameters>();
  const parameters = queryOf(given ?? {});
  const columns = useColumns(app);
  const key = { site: app.site, app: app.id };
  const { data, error, isFetching } = useAppsRecordsQuery({ ...key, ...parameters });
  const [deleteRecord] = useAppsDeleteRecordMutation();
  const search = (query: string) => setGiven({ q: addressed(query), page: '1' });
  const { query: wanted = '' } = parameters;
  const isPlain = given?.q !== undefined && given.q !== addressed(wanted);
  // A query that a person has written into the address would lose characters with the next parameter that Strapi writes.
  useEffect(() => {
    if (isPlain) setGiven({ q: addressed(wanted) }, 'push', true);
  }, [isPlain, wanted, setGiven]);
  const remove = (id: string, onDelete: boolean) =>
    act(() => deleteRecord({ ...key, id, onDelete }).unwrap(), text('deleted'));
  // After a wrong query there are no records to show, and none of the query before.
  const found = error ? undefined : data;
  const mayChange = may(['records']);
  return (
    <Flex direction="column" alignItems="stretch" gap={4}>
      <SearchField
        known={app}
        query={wanted}
        error={textOf(error)}
        failure={error as PanelError | undefined}
        made={found?.query ?? null}
        onSearch={search}
      />
      <Flex gap={2} wrap="wrap">
        <FilterMenu app={app} onAdd={(added) => search(both(found?.query ?? wanted, added))} />
        <ColumnsMenu columns={app.columns} shown={columns.shown} onChoose={columns.choose} />
        <ExportMenu app={app} query={wanted} />
        {mayChange && (
          <>
            <Button variant="tertiary" onClick={() => setOpened({ kind: 'import' })}>
              {text('import')}
            </Button>
            <NewMenu app={app} onNew={(block) => setOpened({ kind: 'new', block })} />
          </>
        )}
        <DraftsButton app={app} mayChange={mayChange} />
        <Typography role="status" textColor="neutral600">
          {found && text('records.total', { total: found.total })}
        </Typography>
      </Flex>
      {!error && (
        <>
          <RecordsTable
            app={app}
            mayChange={mayChange}
            records={found?.records ?? none}
            columns={columns.shown}
            isLoading={(isFetching && !found) || columns.isLoading}
            onEdit={(id) => setOpened({ kind: 'record', id })}
            onDelete={remove}
          />
          <Pagination.Root
            total={found?.total ?? 0}
            pageCount={Math.ceil((found?.total ?? 0) / parameters.limit)}
            defaultPageSize={20}
          >
            <Pagination.PageSize options={['20', '50', '100']} />
            <Pagination.Links />
          </Pagination.Root>
        </>
      )}
      <Suspense fallback={null}>
        {opened?.kind === 'import' && <ImportModal app={app} onClose={() => setOpened(null)} />}
        {opened && opened.kind !== 'import' && (
          <RecordModal app={app} opened={opened} mayChange={mayChange} onClose={() => setOpened(null)} />
        )}
      </Suspense>
    </Flex>
  );
}

/** Begins a new record: by the form of a block, or as JSON. */
function NewMenu({ app, onNew }: { app: AppDetail; onNew(block: string | null): void }) {
  const text = useText();
  const forms = app.blocks.filter(({ hasForm }) => hasForm);
  if (forms.length === 0) {
    return (
      <Button startIcon={<Plus />} onClick={() => onNew(null)}>
        {text('record.new')}
      </Button>
    );
  }
  return (
    <SimpleMenu label={text('record.new')} startIcon={<Plus />} variant="default">
      {forms.map(({ id }) => (
        <MenuItem key={id} onSelect={() => onNew(id)}>
          {text('record.new.form', { block: id })}
        </MenuItem>
      ))}
      <MenuItem onSelect={() => onNew(null)}>{text('record.new.json')}</MenuItem>
    </SimpleMenu>
  );
}
