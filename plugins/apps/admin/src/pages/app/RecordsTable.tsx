import { Box, Link } from '@strapi/design-system';
import type { RecordSummary } from '../../../../shared/admin-api';
import { DataTable } from '../../components/DataTable';
import { DeleteButton } from '../../components/DeleteButton';
import { useText } from '../../plugin';

interface Props {
  records: RecordSummary[];
  /** @param onDelete whether the `on_delete` of the record's block runs */
  onDelete(id: string, onDelete: boolean): Promise<unknown>;
}

/** Records with their items as JSON. */
export function RecordsTable({ records, onDelete }: Props) {
  const text = useText();
  return (
    <DataTable
      label={text('records')}
      empty={text('records.none')}
      rows={records}
      rowKey={(record) => record.id}
      columns={[
        {
          title: text('record'),
          cell: (record) => (
            <Link href={record.url} isExternal>
              {record.id}
            </Link>
          ),
        },
        {
          title: text('items'),
          cell: (record) => (
            <Box
              tag="code"
              display="block"
              maxWidth="60rem"
              maxHeight="10rem"
              overflow="auto"
              style={{ overflowWrap: 'anywhere' }}
            >
              {JSON.stringify(record.items)}
            </Box>
          ),
        },
        { title: text('creator'), cell: (record) => record.creator || text('creator.anonymous') },
        {
          title: text('actions'),
          cell: ({ id, items }) => (
            <DeleteButton
              label={text('delete.one', { id })}
              question={text('delete.confirm', { id })}
              option={typeof items.block === 'string' ? text('delete.logic', { block: items.block }) : undefined}
              onDelete={(chosen) => onDelete(id, chosen)}
            />
          ),
        },
      ]}
    />
  );
}
