import { Box, Flex, Link, Status, Typography } from '@strapi/design-system';
import { useFetchClient } from '@strapi/strapi/admin';
import { useCallback } from 'react';
import { NavLink } from 'react-router-dom';
import { useLoaded } from '../api';
import { useText } from '../plugin';
import { DataTable } from './DataTable';

/** An entry of `plugin::apps.rule`, as the Content Manager gives it. */
interface Rule {
  documentId: string;
  name: string;
  enabled: boolean;
  event: string;
  contentType: string;
  app: string;
  block: string;
  function: string;
  failures: { at: string; message: string }[] | null;
}

/** Rules are entries like others: the Content Manager, with its own permissions, makes and changes them. */
const entries = '/content-manager/collection-types/plugin::apps.rule';

/** The rules on events, with the last failure of each; nothing for administrators who may not read them. */
export function RulesCard() {
  const text = useText();
  const { get } = useFetchClient();
  const load = useCallback(
    async () => (await get<{ results: Rule[] }>(entries, { params: { pageSize: 100, sort: 'name:ASC' } })).data.results,
    [get],
  );
  const { data: rules, error } = useLoaded(load);
  if (error || !rules) return null;
  return (
    <Box tag="section" aria-label={text('rules')} background="neutral0" shadow="tableShadow" hasRadius padding={6}>
      <Flex justifyContent="space-between" alignItems="center" gap={4} paddingBottom={4} wrap="wrap">
        <Typography variant="beta" tag="h2">
          {text('rules')}
        </Typography>
        <Link tag={NavLink} to={entries}>
          {text('rules.manage')}
        </Link>
      </Flex>
      <DataTable
        label={text('rules')}
        empty={text('rules.none')}
        rows={rules}
        rowKey={(rule) => rule.documentId}
        columns={[
          {
            title: text('rule'),
            cell: (rule) => (
              <Link tag={NavLink} to={`${entries}/${rule.documentId}`}>
                {rule.name}
              </Link>
            ),
          },
          { title: text('event'), cell: (rule) => `${rule.event} ${rule.contentType}` },
          { title: text('function'), cell: (rule) => `${rule.app}/${rule.block}/${rule.function}` },
          { title: text('state'), cell: (rule) => <RuleState rule={rule} /> },
        ]}
      />
    </Box>
  );
}

function RuleState({ rule }: { rule: Rule }) {
  const text = useText();
  const [last] = rule.failures ?? [];
  const state = !rule.enabled ? 'rule.disabled' : last ? 'rule.failed' : 'state.fine';
  return (
    <>
      <Status variant={!rule.enabled ? 'secondary' : last ? 'danger' : 'success'} size="S">
        <Typography variant="omega">{text(state, { count: rule.failures?.length ?? 0 })}</Typography>
      </Status>
      {last && (
        <Typography variant="pi" textColor="neutral600" tag="p">
          {`${new Date(last.at).toLocaleString()}: ${last.message}`}
        </Typography>
      )}
    </>
  );
}
