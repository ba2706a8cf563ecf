import { Button, Checkbox, Flex, IconButton, Link, Popover, Th, Thead, Tr, Typography } from '@strapi/design-system';
import { CaretDown, CaretUp, Cog, Pencil } from '@strapi/icons';
import { Table, useQueryParams, useTable } from '@strapi/strapi/admin';
import { useEffect, useRef, useState } from 'react';
import { NavLink } from 'react-router-dom';
import type { AppDetail, ColumnSummary, RecordCreator, RecordSummary } from '../../../../../shared/admin-api';
import { useAction } from '../../../api/base';
import { useAppsColumnsQuery, useAppsSetColumnsMutation } from '../../../api/records';
import { DeleteButton, keepKeys } from '../../../components/DataTable';
import { useText } from '../../../plugin';
import { ItemValue } from './ItemValue';
import { BulkDelete } from './menus';

interface Header {
  name: string;
  label: string;
  sortable: boolean;
}

/**
 * The head of the table of records. It is not `Table.Head`, whose cells do not get their places in the table: the keyboard
 * could not leave them for the rows.
 */
function RecordsHead({ headers, mayChange }: { headers: Header[]; mayChange: boolean }) {
  const [{ query }, setQuery] = useQueryParams<{ sort?: string }>();
  const [sorted, direction] = (query?.sort ?? '').split(':');
  const sort = (name: string) =>
    setQuery({ sort: `${name}:${name === sorted && direction === 'ASC' ? 'DESC' : 'ASC'}` });
  const orderOf = (name: string) => {
    if (name !== sorted) return undefined;
    return direction === 'DESC' ? 'descending' : 'ascending';
  };
  return (
    <Thead>
      <Tr>
        {mayChange && (
          <Th>
            <SelectAll />
          </Th>
        )}
        {headers.map(({ name, label, sortable }) => (
          <Th key={name} role="columnheader" aria-sort={orderOf(name)}>
            <Label label={label} order={orderOf(name)} onSort={sortable ? () => sort(name) : undefined} />
          </Th>
        ))}
      </Tr>
    </Thead>
  );
}

interface LabelProps {
  label: string;
  order: 'ascending' | 'descending' | undefined;
  /** Without it the column cannot be sorted by. */
  onSort: (() => void) | undefined;
}

function Label({ label, order, onSort }: LabelProps) {
  const shown = (
    <Typography variant="sigma" textColor="neutral600">
      {label}
    </Typography>
  );
  if (!onSort) return shown;
  return (
    <Flex
      tag="button"
      type="button"
      gap={1}
      onClick={onSort}
      style={{ border: 0, padding: 0, background: 'none', cursor: 'pointer' }}
    >
      {shown}
      {order === 'ascending' && <CaretUp aria-hidden />}
      {order === 'descending' && <CaretDown aria-hidden />}
    </Flex>
  );
}

/** Chooses all records of the page, or none. */
function SelectAll() {
  const text = useText();
  const rows = useTable('SelectAll', (state) => state.rows);
  const selected = useTable('SelectAll', (state) => state.selectedRows);
  const select = useTable('SelectAll', (state) => state.selectRow);
  const box = useRef<HTMLButtonElement>(null);
  // The cell has counted the hidden input that a check box begins with, and would keep the focus for itself.
  useEffect(() => {
    box.current?.closest('th')?.removeAttribute('tabindex');
    if (box.current) box.current.tabIndex = 0;
  }, []);
  // Another page or search has other rows: what is no longer shown must not be deleted with the rest.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a choice of rows is no change of the rows
  useEffect(() => {
    const shown = selected.filter(({ id }) => rows.some((row) => row.id === id));
    if (shown.length < selected.length) select(shown);
  }, [rows]);
  const all = rows.length > 0 && selected.length === rows.length;
  return (
    <Checkbox
      ref={box}
      aria-label={text('records.select')}
      disabled={rows.length === 0}
      checked={selected.length > 0 && !all ? 'indeterminate' : all}
      onCheckedChange={() => select(all ? [] : rows)}
    />
  );
}

interface RecordsTableProps {
  app: AppDetail;
  records: RecordSummary[];
  columns: ColumnSummary[];
  isLoading: boolean;
  /** Whether the administrator may change records. */
  mayChange: boolean;
  onEdit(id: string): void;
  /** @param onDelete whether the `on_delete` of the record's block runs */
  onDelete(id: string, onDelete: boolean): Promise<unknown>;
}

/** Records with their items in columns, which sort by their indexes. */
export function RecordsTable({ app, records, columns, isLoading, mayChange, onEdit, onDelete }: RecordsTableProps) {
  const text = useText();
  const headers = [
    { name: 'id', label: text('record'), sortable: true },
    ...columns.map(({ name, label, index }) => ({ name, label, sortable: index === 'field' })),
    { name: '_creator', label: text('creator'), sortable: false },
    { name: '_actions', label: text('actions'), sortable: false },
  ];
  return (
    <Table.Root
      rows={records}
      headers={mayChange ? [{ name: '_select', label: '' }, ...headers] : headers}
      isLoading={isLoading}
    >
      {mayChange && (
        <Table.ActionBar>
          <BulkDelete app={app} />
        </Table.ActionBar>
      )}
      <Table.Content>
        <RecordsHead headers={headers} mayChange={mayChange} />
        <Table.Loading />
        <Table.Empty content={text('records.none')} />
        <Table.Body>
          {records.map((record) => (
            <Table.Row key={record.id}>
              {mayChange && <Table.CheckboxCell id={record.id} />}
              <Table.Cell>
                <Link href={record.url} isExternal>
                  {record.id}
                </Link>
              </Table.Cell>
              {columns.map(({ name, type }) => (
                <Table.Cell key={name}>
                  <Typography
                    tag="div"
                    width="max-content"
                    minWidth="8rem"
                    maxWidth="30rem"
                    style={{ whiteSpace: 'normal', overflowWrap: 'anywhere' }}
                  >
                    <ItemValue value={Object.hasOwn(record.items, name) ? record.items[name] : undefined} type={type} />
                  </Typography>
                </Table.Cell>
              ))}
              <Table.Cell>
                <CreatorLink creator={record.creator} />
              </Table.Cell>
              <Table.Cell>
                <Flex gap={1} onKeyDown={keepKeys}>
                  <IconButton
                    label={text('record.edit', { id: record.id })}
                    variant="ghost"
                    onClick={() => onEdit(record.id)}
                  >
                    <Pencil />
                  </IconButton>
                  {mayChange && (
                    <DeleteButton
                      label={text('delete.one', { id: record.id })}
                      question={text('delete.confirm', { id: record.id })}
                      option={deleteOption(record, text)}
                      onDelete={(chosen) => onDelete(record.id, chosen)}
                    />
                  )}
                </Flex>
              </Table.Cell>
            </Table.Row>
          ))}
        </Table.Body>
      </Table.Content>
    </Table.Root>
  );
}

const deleteOption = ({ items: { block } }: RecordSummary, text: ReturnType<typeof useText>): string | undefined =>
  typeof block === 'string' ? text('delete.logic', { block }) : undefined;

/** Who has made a record, with a link to the page about them. */
function CreatorLink({ creator }: { creator: RecordCreator | null }) {
  const text = useText();
  if (!creator) return <Typography>{text('creator.anonymous')}</Typography>;
  if (creator.path === null) return <Typography>{creator.name}</Typography>;
  return (
    <Link tag={NavLink} to={creator.path}>
      {creator.name}
    </Link>
  );
}

/** Columns of a list whose administrator has not chosen any. */
const DEFAULT_COUNT = 5;

interface Columns {
  shown: ColumnSummary[];
  /** The server has not yet said what was chosen. */
  isLoading: boolean;
  choose(names: string[]): void;
}

/** The columns of an app's records that the administrator sees; the server keeps them, for every browser. */
export function useColumns(app: AppDetail): Columns {
  const act = useAction();
  const key = { site: app.site, app: app.id };
  const { data, isLoading } = useAppsColumnsQuery(key);
  const [setColumns] = useAppsSetColumnsMutation();
  const [chosen, setChosen] = useState<string[] | null>(null);
  // One after the other, so that the last choice is the one that is kept.
  const saving = useRef<Promise<unknown>>(Promise.resolve());
  const names = chosen ?? data?.columns ?? app.columns.slice(0, DEFAULT_COUNT).map(({ name }) => name);
  const choose = (next: string[]) => {
    setChosen(next);
    saving.current = saving.current.then(() => act(() => setColumns({ ...key, columns: next }).unwrap()));
  };
  return { shown: app.columns.filter(({ name }) => names.includes(name)), isLoading, choose };
}

interface ColumnsMenuProps {
  columns: ColumnSummary[];
  shown: ColumnSummary[];
  onChoose(names: string[]): void;
}

/** The choice of the columns that the list shows. */
export function ColumnsMenu({ columns, shown, onChoose }: ColumnsMenuProps) {
  const text = useText();
  const names = shown.map(({ name }) => name);
  const toggle = (name: string) =>
    onChoose(names.includes(name) ? names.filter((one) => one !== name) : [...names, name]);
  return (
    <Popover.Root>
      <Popover.Trigger>
        <Button variant="tertiary" startIcon={<Cog />}>
          {text('columns')}
        </Button>
      </Popover.Trigger>
      <Popover.Content aria-label={text('columns')}>
        <Flex direction="column" alignItems="flex-start" gap={2} padding={4}>
          {columns.map(({ name, label }) => (
            <Checkbox key={name} checked={names.includes(name)} onCheckedChange={() => toggle(name)}>
              {label === name ? name : `${label} (${name})`}
            </Checkbox>
          ))}
        </Flex>
      </Popover.Content>
    </Popover.Root>
  );
}
