import { Button, Checkbox, Dialog, Flex, Typography } from '@strapi/design-system';
import { Trash } from '@strapi/icons';
import { ConfirmDialog, useNotification, useTable } from '@strapi/strapi/admin';
import { useState } from 'react';
import type { AppDetail } from '../../../../../../shared/admin-api';
import { useAction } from '../../../../api/base';
import { useAppsDeleteRecordsMutation } from '../../../../api/records';
import { useText } from '../../../../plugin';

/** Deletes the chosen records of the table, after a question; those that cannot be deleted are named. */
export function BulkDelete({ app }: { app: AppDetail }) {
  const text = useText();
  const act = useAction();
  const { toggleNotification } = useNotification();
  const [deleteRecords] = useAppsDeleteRecordsMutation();
  const [onDelete, setOnDelete] = useState(true);
  const ids = useTable('BulkDelete', (state) => state.selectedRows).map(({ id }) => String(id));
  const select = useTable('BulkDelete', (state) => state.selectRow);
  const remove = async () => {
    const done = await act(() => deleteRecords({ site: app.site, app: app.id, ids, onDelete }).unwrap());
    if (!done) return;
    select([]);
    const { deleted, failed } = done;
    const [first] = failed;
    if (!first) toggleNotification({ type: 'success', message: text('deleted.many', { count: deleted }) });
    else
      toggleNotification({
        type: 'warning',
        message: text('deleted.some', { count: deleted, failed: failed.length, reason: first.message }),
      });
  };
  return (
    <Dialog.Root>
      <Dialog.Trigger>
        <Button variant="danger-light" startIcon={<Trash />} disabled={ids.length === 0}>
          {text('delete')}
        </Button>
      </Dialog.Trigger>
      <ConfirmDialog onConfirm={remove}>
        <Flex direction="column" gap={4}>
          <Typography>{text('delete.many.confirm', { count: ids.length })}</Typography>
          <Checkbox checked={onDelete} onCheckedChange={(checked) => setOnDelete(checked === true)}>
            {text('delete.many.logic')}
          </Checkbox>
        </Flex>
      </ConfirmDialog>
    </Dialog.Root>
  );
}
