import { Box, Flex, IconButton, Link, LinkButton, Status, Switch, Typography } from '@strapi/design-system';
import { Pencil, Plus } from '@strapi/icons';
import { NavLink } from 'react-router-dom';
import type { Rule, RuleChoices } from '../../../shared/admin-api';
import { useAction, useApi, useLoaded } from '../api';
import { useText } from '../plugin';
import { DataTable } from './DataTable';
import { DeleteButton } from './DeleteButton';

/** The rules on events, with the last failure of each; they can be switched on and off, changed and deleted. */
export function RulesCard() {
  const text = useText();
  const api = useApi();
  const act = useAction();
  const { data: rules, error, reload } = useLoaded(api.rules);
  const { data: choices } = useLoaded(api.ruleChoices);

  const enable = async ({ id }: Rule, enabled: boolean) => {
    await act(() => api.updateRule(id, { enabled }), text('rule.saved'));
    reload();
  };
  const remove = async ({ id }: Rule) => {
    await act(() => api.deleteRule(id), text('rule.deleted'));
    reload();
  };
  return (
    <Box tag="section" aria-label={text('rules')} background="neutral0" shadow="tableShadow" hasRadius padding={6}>
      <Flex justifyContent="space-between" alignItems="center" gap={4} paddingBottom={4} wrap="wrap">
        <Typography variant="beta" tag="h2">
          {text('rules')}
        </Typography>
        <LinkButton tag={NavLink} to="rules/create" startIcon={<Plus />} variant="secondary">
          {text('rule.create')}
        </LinkButton>
      </Flex>
      {error && <Typography textColor="danger600">{error}</Typography>}
      {rules && (
        <DataTable
          label={text('rules')}
          empty={text('rules.none')}
          rows={rules}
          rowKey={(rule) => rule.id}
          columns={[
            {
              title: text('rule'),
              cell: (rule) => (
                <Link tag={NavLink} to={`rules/${rule.id}`}>
                  {rule.name}
                </Link>
              ),
            },
            {
              title: text('event'),
              cell: (rule) => `${typeName(choices, rule.contentType)} ${text(`event.${rule.event}`)}`,
            },
            { title: text('function'), cell: (rule) => `${rule.app}/${rule.block}/${rule.function}` },
            { title: text('state'), cell: (rule) => <RuleState rule={rule} /> },
            {
              title: text('rule.enabled'),
              cell: (rule) => (
                <Switch
                  aria-label={`${text('rule.enabled')}: ${rule.name}`}
                  onLabel={text('rule.on')}
                  offLabel={text('rule.off')}
                  visibleLabels
                  checked={rule.enabled}
                  onCheckedChange={(enabled) => enable(rule, enabled)}
                />
              ),
            },
            {
              title: text('actions'),
              cell: (rule) => (
                <Flex gap={1}>
                  <IconButton
                    tag={NavLink}
                    to={`rules/${rule.id}`}
                    label={text('rule.edit', { name: rule.name })}
                    variant="ghost"
                  >
                    <Pencil />
                  </IconButton>
                  <DeleteButton
                    label={text('rule.delete', { name: rule.name })}
                    question={text('rule.delete.confirm', { name: rule.name })}
                    onDelete={() => remove(rule)}
                  />
                </Flex>
              ),
            },
          ]}
        />
      )}
    </Box>
  );
}

/** A content type by its name, or its uid when the host no longer has it. */
function typeName(choices: RuleChoices | undefined, uid: string): string {
  return choices?.contentTypes.find((type) => type.uid === uid)?.name ?? uid;
}

function RuleState({ rule }: { rule: Rule }) {
  const text = useText();
  const [last] = rule.failures;
  const state = last ? text('rule.failed', { count: rule.failures.length }) : text('state.fine');
  return (
    <>
      <Status variant={last || rule.problem ? 'danger' : 'success'} size="S">
        <Typography variant="omega">{rule.problem ? text('rule.broken') : state}</Typography>
      </Status>
      {rule.problem && (
        <Typography variant="pi" textColor="danger600" tag="p">
          {rule.problem}
        </Typography>
      )}
      {last && (
        <Typography variant="pi" textColor="neutral600" tag="p">
          {`${new Date(last.at).toLocaleString()}: ${last.message}`}
        </Typography>
      )}
    </>
  );
}
