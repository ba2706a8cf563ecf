import { Box, Button, Dialog, Flex, Typography } from '@strapi/design-system';
import { ConfirmDialog } from '@strapi/strapi/admin';
import type { AppDetail, HistoryAuthor, HistoryChange } from '../../../../shared/admin-api';
import type { Json } from '../../../../shared/json';
import { useAction } from '../../api/base';
import { useAppsRestoreVersionMutation } from '../../api/records';
import { DataTable } from '../../components/DataTable';
import { type TextKey, useText } from '../../plugin';

/** Characters of a value that the difference shows. */
const MAX_SHOWN = 500;

/** Gives the name of who has made a change. */
export function useAuthor() {
  const text = useText();
  return ({ by }: Pick<HistoryAuthor, 'by'>) => by?.name ?? text('creator.anonymous');
}

interface HistoryTableProps {
  app: AppDetail;
  changes: HistoryChange[];
  mayChange: boolean;
  /** Begins to undo what the requester of a change has done since it; without it there is no such button. */
  onUndo?(change: HistoryChange): void;
}

/** Changes of records with their differences; each can be restored. */
export function HistoryTable({ app, changes, mayChange, onUndo }: HistoryTableProps) {
  const text = useText();
  const authorOf = useAuthor();
  return (
    <DataTable
      label={text('history')}
      empty={text('history.none')}
      rows={changes}
      rowKey={({ version }) => String(version)}
      columns={[
        { title: text('run.at'), cell: ({ at }) => new Date(at).toLocaleString() },
        { title: text('record'), cell: ({ id }) => id },
        { title: text('run.requester'), cell: authorOf },
        { title: text('history.through'), cell: ({ through }) => text(`history.through.${through}` as TextKey) },
        { title: text('history.change'), cell: (change) => <Difference change={change} /> },
        ...(mayChange
          ? [
              {
                title: text('history.actions'),
                cell: (change: HistoryChange) => (
                  <Flex gap={2} wrap="wrap">
                    <RestoreButton app={app} change={change} />
                    {onUndo && (
                      <Button variant="tertiary" size="S" onClick={() => onUndo(change)}>
                        {text('history.undo.from')}
                      </Button>
                    )}
                  </Flex>
                ),
              },
            ]
          : []),
      ]}
    />
  );
}

const shown = (value: Json): string => {
  const written = typeof value === 'string' ? value : JSON.stringify(value);
  return written.length > MAX_SHOWN ? `${written.slice(0, MAX_SHOWN)}…` : written;
};

/** What a change has done: the value of each item before it and after it. */
function Difference({ change: { event, items } }: { change: HistoryChange }) {
  const text = useText();
  return (
    <Box>
      <Typography fontWeight="bold">{text(`history.event.${event}`)}</Typography>
      <Box tag="ul" style={{ overflowWrap: 'anywhere' }}>
        {items.map(({ name, before, after }) => (
          <li key={name}>
            <code>{name}</code>: {before !== undefined && <del>{shown(before)}</del>}{' '}
            {after !== undefined && <ins>{shown(after)}</ins>}
          </li>
        ))}
      </Box>
    </Box>
  );
}

/** Makes the record what it was after a change, or before its deletion, once that is confirmed. */
function RestoreButton({ app, change: { id, version, at, event } }: { app: AppDetail; change: HistoryChange }) {
  const text = useText();
  const act = useAction();
  const [restore] = useAppsRestoreVersionMutation();
  const values = { id, at: new Date(at).toLocaleString() };
  const confirm = async () => {
    await act(() => restore({ site: app.site, app: app.id, id, version }).unwrap(), text('history.restored'));
  };
  return (
    <Dialog.Root>
      <Dialog.Trigger>
        <Button variant="tertiary" size="S">
          {text('history.restore')}
        </Button>
      </Dialog.Trigger>
      <ConfirmDialog variant="default" onConfirm={confirm}>
        {text(event === 'delete' ? 'history.restore.deleted' : 'history.restore.question', values)}
      </ConfirmDialog>
    </Dialog.Root>
  );
}
