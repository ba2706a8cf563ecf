import { Box, Modal, Tabs, Typography } from '@strapi/design-system';
import { Page } from '@strapi/strapi/admin';
import type { AppDetail } from '../../../../../../shared/admin-api';
import { useErrorText } from '../../../../api/base';
import { useAppsRecordQuery } from '../../../../api/records';
import { useText } from '../../../../plugin';
import { BlockForm } from './BlockForm';
import { RecordJson } from './RecordJson';

interface Props {
  app: AppDetail;
  opened: { kind: 'record'; id: string } | { kind: 'new'; block: string | null };
  mayChange: boolean;
  onClose(): void;
}

/** A record, or a new one, in the form of its block and as JSON. */
export default function RecordModal({ app, opened, mayChange, onClose }: Props) {
  const text = useText();
  const title = opened.kind === 'record' ? opened.id : text('record.new');
  return (
    <Modal.Root open onOpenChange={(open: boolean) => !open && onClose()}>
      <Modal.Content aria-describedby={undefined}>
        <Modal.Header>
          <Modal.Title>{title}</Modal.Title>
        </Modal.Header>
        <Modal.Body>
          {opened.kind === 'record' ? (
            <StoredRecord app={app} id={opened.id} mayChange={mayChange} onDone={onClose} />
          ) : opened.block === null ? (
            <RecordJson app={app} record={null} mayChange={mayChange} onDone={onClose} />
          ) : (
            <BlockForm app={app} block={opened.block} onDone={onClose} />
          )}
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

function StoredRecord({
  app,
  id,
  mayChange,
  onDone,
}: {
  app: AppDetail;
  id: string;
  mayChange: boolean;
  onDone(): void;
}) {
  const text = useText();
  const textOf = useErrorText();
  const { data, error } = useAppsRecordQuery({ site: app.site, app: app.id, id }, { refetchOnMountOrArgChange: true });
  if (error) return <Typography textColor="danger600">{textOf(error)}</Typography>;
  if (!data) return <Page.Loading />;
  const json = <RecordJson key={data.version} app={app} record={data} mayChange={mayChange} onDone={onDone} />;
  if (data.form === null || !mayChange) return json;
  return (
    <Tabs.Root defaultValue="form">
      <Tabs.List aria-label={id}>
        <Tabs.Trigger value="form">{text('record.form')}</Tabs.Trigger>
        <Tabs.Trigger value="json">JSON</Tabs.Trigger>
      </Tabs.List>
      <Tabs.Content value="form">
        <BlockForm app={app} block={data.form} id={id} onDone={onDone} />
      </Tabs.Content>
      <Tabs.Content value="json">
        <Box paddingTop={4}>{json}</Box>
      </Tabs.Content>
    </Tabs.Root>
  );
}
