import { Field, Flex, Link, SingleSelect, SingleSelectOption, Typography } from '@strapi/design-system';
import { ArrowLeft } from '@strapi/icons';
import { Layouts, Page } from '@strapi/strapi/admin';
import { useState } from 'react';
import { NavLink } from 'react-router-dom';
import { type AuditEntry, auditActions } from '../../../shared/admin-api';
import { useAppsAuditQuery } from '../api/activity';
import { useErrorText } from '../api/base';
import { DataTable, OlderEntries } from '../components/DataTable';
import { useMay } from '../permissions';
import { pluginId, useText } from '../plugin';

/** What administrators have run in the names of others, the latest first. */
export default function AuditPage() {
  const text = useText();
  return useMay()(['audit']) ? (
    <Page.Main>
      <Page.Title>{text('audit')}</Page.Title>
      <Layouts.Header
        title={text('audit')}
        subtitle={text('audit.subtitle')}
        navigationAction={
          <Link tag={NavLink} to={`/plugins/${pluginId}`} startIcon={<ArrowLeft />}>
            {text('back')}
          </Link>
        }
      />
      <Layouts.Content>
        <AuditLog />
      </Layouts.Content>
    </Page.Main>
  ) : (
    <Page.NoPermissions />
  );
}

/** The entries with their filters, in pages. */
function AuditLog() {
  const text = useText();
  const textOf = useErrorText();
  const [app, setApp] = useState('');
  const [administrator, setAdministrator] = useState('');
  const [action, setAction] = useState('all');
  const [before, setBefore] = useState<string>();
  const chosen = auditActions.find((one) => one === action);
  const query = {
    ...(app && { app }),
    ...(administrator && { administrator }),
    ...(chosen && { action: chosen }),
    ...(before && { before }),
  };
  const { data, error } = useAppsAuditQuery(query, { refetchOnMountOrArgChange: true });
  /** A filter begins with the latest entries. */
  const filtered =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      setBefore(undefined);
      set(value);
    };
  return (
    <Flex direction="column" alignItems="stretch" gap={4}>
      <Flex gap={4} wrap="wrap" alignItems="flex-end">
        <Field.Root name="app">
          <Field.Label>{text('audit.app')}</Field.Label>
          <Field.Input value={app} maxLength={200} onChange={({ target }) => filtered(setApp)(target.value)} />
        </Field.Root>
        <Field.Root name="administrator">
          <Field.Label>{text('audit.administrator')}</Field.Label>
          <Field.Input
            value={administrator}
            maxLength={200}
            onChange={({ target }) => filtered(setAdministrator)(target.value)}
          />
        </Field.Root>
        <Field.Root name="action">
          <Field.Label>{text('audit.action')}</Field.Label>
          <SingleSelect value={action} onChange={(value) => filtered(setAction)(String(value))}>
            {(['all', ...auditActions] as const).map((one) => (
              <SingleSelectOption key={one} value={one}>
                {text(`audit.action.${one}`)}
              </SingleSelectOption>
            ))}
          </SingleSelect>
        </Field.Root>
      </Flex>
      {error !== undefined && (
        <Typography role="alert" textColor="danger600">
          {textOf(error)}
        </Typography>
      )}
      <AuditTable entries={data?.entries ?? []} />
      <OlderEntries before={before} older={data?.older} onChoose={setBefore} />
    </Flex>
  );
}

function AuditTable({ entries }: { entries: AuditEntry[] }) {
  const text = useText();
  const whenOf = ({ at, lastAt, times }: AuditEntry) =>
    times === 1
      ? new Date(at).toLocaleString()
      : text('audit.times', { at: new Date(at).toLocaleString(), last: new Date(lastAt).toLocaleString(), times });
  const resultOf = ({ status }: AuditEntry) =>
    status === null ? text('audit.open') : status < 400 ? text('audit.done') : text('code.preview.status', { status });
  return (
    <DataTable
      label={text('audit')}
      empty={text('audit.none')}
      rows={entries}
      rowKey={({ id }) => id}
      columns={[
        { title: text('run.at'), cell: whenOf },
        {
          title: text('audit.administrator'),
          cell: ({ administrator }) => administrator.name ?? administrator.identity,
        },
        { title: text('audit.action'), cell: ({ action }) => text(`audit.action.${action}`) },
        { title: text('audit.where'), cell: ({ site, app, block }) => [site, app, block].filter(Boolean).join(' / ') },
        { title: text('audit.requester'), cell: ({ requester }) => requester },
        { title: text('audit.unsaved'), cell: ({ unsaved }) => unsaved.join(', ') },
        { title: text('audit.result'), cell: resultOf },
      ]}
    />
  );
}
