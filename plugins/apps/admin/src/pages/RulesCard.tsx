import { Box, Flex, IconButton, Link, LinkButton, Status, Switch, Typography } from '@strapi/design-system';
import { Pencil, Plus } from '@strapi/icons';
import { NavLink } from 'react-router-dom';
import type { Rule, RuleChoices } from '../../../shared/admin-api';
import {
  useAppsDeleteRuleMutation,
  useAppsRuleChoicesQuery,
  useAppsRulesQuery,
  useAppsUpdateRuleMutation,
} from '../api/apps';
import { useAction, useErrorText } from '../api/base';
import { DataTable, DeleteButton } from '../components/DataTable';
import { useMay } from '../permissions';
import { useText } from '../plugin';

/** The rules on events, with the last failure of each; they can be switched on and off, changed and deleted. */
export function RulesCard() {
  const text = useText();
  const may = useMay();
  const textOf = useErrorText();
  const act = useAction();
  const { data: rules, error } = useAppsRulesQuery();
  const { data: choices } = useAppsRuleChoicesQuery();
  const [updateRule] = useAppsUpdateRuleMutation();
  const [deleteRule] = useAppsDeleteRuleMutation();
  const mayManage = may('manage');

  const enable = ({ id }: Rule, enabled: boolean) =>
    act(() => updateRule({ rule: id, changes: { enabled } }).unwrap(), text('rule.saved'));
  const remove = ({ id }: Rule) => act(() => deleteRule({ rule: id }).unwrap(), text('rule.deleted'));
  return (
    <Box tag="section" aria-label={text('rules')} background="neutral0" shadow="tableShadow" hasRadius padding={6}>
      <Flex justifyContent="space-between" alignItems="center" gap={4} paddingBottom={4} wrap="wrap">
        <Typography variant="beta" tag="h2">
          {text('rules')}
        </Typography>
        {mayManage && (
          <LinkButton tag={NavLink} to="rules/create" startIcon={<Plus />} variant="secondary">
            {text('rule.create')}
          </LinkButton>
        )}
      </Flex>
      {error && <Typography textColor="danger600">{textOf(error)}</Typography>}
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
                  disabled={!mayManage}
                  onCheckedChange={(enabled) => enable(rule, enabled)}
                />
              ),
            },
            {
              title: text('actions'),
              cell: (rule) =>
                mayManage && (
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
      <Status variant={last || rule.problem ? 'danger' : 'success'} size="S" width="max-content">
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
