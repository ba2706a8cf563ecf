import { Box, Dialog, IconButton, Link } from '@strapi/design-system';
import { Trash } from '@strapi/icons';
import { ConfirmDialog } from '@strapi/strapi/admin';
import type { RecordSummary } from '../../../shared/admin-api';
import { useText } from '../plugin';
import { DataTable } from './DataTable';

interface Props {
  records: RecordSummary[];
  onDelete(id: string): Promise<void>;
}

function DeleteButton({ id, onDelete }: { id: string; onDelete: Props['onDelete'] }) {
  const text = useText();
  return (
    <Dialog.Root>
      <Dialog.Trigger>
        <IconButton label={text('delete.one', { id })} variant="ghost">
          <Trash />
        </IconButton>
      </Dialog.Trigger>
      <ConfirmDialog onConfirm={() => onDelete(id)}>{text('delete.confirm', { id })}</ConfirmDialog>
    </Dialog.Root>
  );
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
        { title: text('actions'), cell: (record) => <DeleteButton id={record.id} onDelete={onDelete} /> },
      ]}
    />
  );
}
