import { Link, Typography } from '@strapi/design-system';
import { ArrowLeft } from '@strapi/icons';
import { Layouts, Page } from '@strapi/strapi/admin';
import { NavLink, useNavigate, useParams } from 'react-router-dom';
import type { Rule } from '../../../../shared/admin-api';
import { useErrorText } from '../../api/base';
import { useAppsRuleChoicesQuery, useAppsRulesQuery } from '../../api/rules';
import { useAppsRunsQuery } from '../../api/runs';
import { DataTable } from '../../components/DataTable';
import { Section } from '../../components/Section';
import { useMay } from '../../permissions';
import { pluginId, useText } from '../../plugin';
import { RunsTable } from '../app/runs/RunsTable';
import { RuleForm } from './RuleForm';

/** The address of the plugin's first page. */
const overviewPath = `/plugins/${pluginId}`;

/** Makes a rule on events (`rules/create`), or changes one, and shows its runs and failures. */
export default function RulePage() {
  const text = useText();
  const may = useMay();
  const textOf = useErrorText();
  const navigate = useNavigate();
  const { rule: id = 'create' } = useParams();
  const { data: choices, error: choicesError } = useAppsRuleChoicesQuery();
  const { data: rules, error: rulesError } = useAppsRulesQuery(undefined, { refetchOnMountOrArgChange: true });
  const error = textOf(choicesError ?? rulesError);
  if (error) return <Page.Error content={error} />;
  if (!choices || !rules) return <Page.Loading />;
  const rule = rules.find((one) => one.id === id);
  if (!rule && id !== 'create') return <Page.Error content={text('rule.missing')} />;
  const title = rule?.name ?? text('rule.create');
  return (
    <Page.Main>
      <Page.Title>{title}</Page.Title>
      <RuleForm
        rule={rule}
        choices={choices}
        onSaved={() => navigate(overviewPath)}
        header={(save) => (
          <Layouts.Header
            title={title}
            subtitle={text('rule.subtitle')}
            primaryAction={save}
            navigationAction={
              <Link tag={NavLink} to={overviewPath} startIcon={<ArrowLeft />}>
                {text('back')}
              </Link>
            }
          />
        )}
      >
        {rule && may(['develop']) && <Runs rule={rule} />}
        {rule && <Failures rule={rule} />}
      </RuleForm>
    </Page.Main>
  );
}

/** The rule's runs that are still kept, whether they failed or not. */
function Runs({ rule }: { rule: Rule }) {
  const text = useText();
  const textOf = useErrorText();
  const { data, error } = useAppsRunsQuery({ rule: rule.id, limit: 20 }, { refetchOnMountOrArgChange: true });
  return (
    <Section title={text('rule.runs')}>
      {error && <Typography textColor="danger600">{textOf(error)}</Typography>}
      {data && <RunsTable runs={data.runs} empty={text('rule.runs.none')} />}
    </Section>
  );
}

/** Failures that are stored with the rule. */
function Failures({ rule }: { rule: Rule }) {
  const text = useText();
  return (
    <Section title={text('rule.failures')}>
      <DataTable
        label={text('rule.failures')}
        empty={text('rule.failures.none')}
        rows={rule.failures}
        rowKey={(failure) => `${failure.at} ${failure.documentId} ${failure.message}`}
        columns={[
          { title: text('rule.failure.at'), cell: ({ at }) => new Date(at).toLocaleString() },
          { title: text('rule.failure.document'), cell: ({ documentId }) => documentId },
          { title: text('rule.failure.message'), cell: ({ message }) => message },
        ]}
      />
    </Section>
  );
}
