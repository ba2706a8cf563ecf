import { Link } from '@strapi/design-system';
import { ArrowLeft } from '@strapi/icons';
import { Layouts, Page } from '@strapi/strapi/admin';
import { useCallback } from 'react';
import { NavLink, useNavigate, useParams } from 'react-router-dom';
import type { Rule } from '../../../shared/admin-api';
import { useApi, useLoaded } from '../api';
import { DataTable } from '../components/DataTable';
import { RuleForm } from '../components/RuleForm';
import { Section } from '../components/Section';
import { pluginId, useText } from '../plugin';

/** The address of the plugin's first page. */
const home = `/plugins/${pluginId}`;

/** Makes a rule on events (`rules/create`), or changes one, and shows its failures. */
export function RulePage() {
  const text = useText();
  const api = useApi();
  const navigate = useNavigate();
  const { rule: id = 'create' } = useParams();
  const load = useCallback(async () => {
    const [rules, choices] = await Promise.all([id === 'create' ? [] : api.rules(), api.ruleChoices()]);
    return { rule: rules.find((rule) => rule.id === id), choices };
  }, [api, id]);
  const { data, error } = useLoaded(load);
  if (error) return <Page.Error content={error} />;
  if (!data) return <Page.Loading />;
  const { rule, choices } = data;
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
