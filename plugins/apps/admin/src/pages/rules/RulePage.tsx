import { Link } from '@strapi/design-system';
import { ArrowLeft } from '@strapi/icons';
import { Layouts, Page } from '@strapi/strapi/admin';
import { NavLink, useNavigate, useParams } from 'react-router-dom';
import type { Rule } from '../../../../shared/admin-api';
import { useErrorText } from '../../api/base';
import { useAppsRuleChoicesQuery, useAppsRulesQuery } from '../../api/rules';
import { DataTable } from '../../components/DataTable';
import { Section } from '../../components/Section';
import { pluginId, useText } from '../../plugin';
import { RuleForm } from './RuleForm';

/** The address of the plugin's first page. */
const home = `/plugins/${pluginId}`;

/** Makes a rule on events (`rules/create`), or changes one, and shows its failures. */
export default function RulePage() {
  const text = useText();
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
        onSaved={() => navigate(home)}
        header={(save) => (
          <Layouts.Header
            title={title}
            subtitle={text('rule.subtitle')}
            primaryAction={save}
            navigationAction={
              <Link tag={NavLink} to={home} startIcon={<ArrowLeft />}>
                {text('back')}
              </Link>
            }
          />
        )}
      >
        {rule && <Failures rule={rule} />}
      </RuleForm>
    </Page.Main>
  );
}

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
