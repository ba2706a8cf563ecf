import { Button, Dialog, Modal, Typography } from '@strapi/design-system';
import { ConfirmDialog } from '@strapi/strapi/admin';
import type { AppDetail, DraftSummary } from '../../../../../shared/admin-api';
import { useAction } from '../../../api/base';
import { useAppsDeleteDraftMutation, useAppsDraftsQuery } from '../../../api/records';
import { DataTable } from '../../../components/DataTable';
import { useText } from '../../../plugin';

interface DraftsProps {
  app: AppDetail;
  mayChange: boolean;
}

/** A button that says how many drafts the forms of an app have, and opens their list; nothing where there are none. */
export function DraftsButton({ app, mayChange }: DraftsProps) {
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
