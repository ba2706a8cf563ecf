import { Flex, IconButton, Link, Typography } from '@strapi/design-system';
import { Pencil } from '@strapi/icons';
import { Table } from '@strapi/strapi/admin';
import type { KeyboardEvent } from 'react';
import { NavLink } from 'react-router-dom';
import type { AppDetail, ColumnSummary, RecordCreator, RecordSummary } from '../../../../../../shared/admin-api';
import { DeleteButton } from '../../../../components/DeleteButton';
import { useText } from '../../../../plugin';
import { ItemValue } from '../ItemValue';
import { BulkDelete } from './BulkDelete';
import { RecordsHead } from './RecordsHead';

interface Props {
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
export function RecordsTable({ app, records, columns, isLoading, mayChange, onEdit, onDelete }: Props) {
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

/**
 * The table gets only the keys that lead from cell to cell: in a cell of several buttons it takes all of them, so that Enter and
 * Tab would do nothing, also in the question that a button asks.
 */
function keepKeys(event: KeyboardEvent) {
  const leads = /^(Arrow|Home|End|Page)/.test(event.key) && event.currentTarget.contains(event.target as Node);
  if (!leads) event.stopPropagation();
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
