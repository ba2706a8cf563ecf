import { Box, Link, Tabs } from '@strapi/design-system';
import { ArrowLeft } from '@strapi/icons';
import { Layouts, Page } from '@strapi/strapi/admin';
import { useCallback } from 'react';
import { NavLink, useParams } from 'react-router-dom';
import { useApi, useLoaded } from '../api';
import { BlocksTable } from '../components/BlocksTable';
import { IndexesPanel } from '../components/IndexesPanel';
import { OptionsPanel } from '../components/OptionsPanel';
import { ProblemNote } from '../components/ProblemNote';
import { RecordsPanel } from '../components/RecordsPanel';
import { pluginId, useText } from '../plugin';

/** One app of one site: its blocks, its indexes and its records. */
export function AppPage() {
  const text = useText();
  const api = useApi();
  const { site = '', app = '' } = useParams();
  const { data, error, reload } = useLoaded(useCallback(() => api.app({ site, app }), [api, site, app]));
  if (error) return <Page.Error content={error} />;
  if (!data) return <Page.Loading />;
  const tabs = [
    {
      value: 'records',
      title: `${text('records')} (${data.records})`,
      panel: <RecordsPanel app={data} onChange={reload} />,
    },
    {
      value: 'blocks',
      title: `${text('blocks')} (${data.blocks.length})`,
      panel: <BlocksTable blocks={data.blocks} />,
    },
    {
      value: 'indexes',
      title: `${text('indexes')} (${data.indexes.length})`,
      panel: <IndexesPanel app={data} onChange={reload} />,
    },
    { value: 'options', title: text('options'), panel: <OptionsPanel app={data} onChange={reload} /> },
  ];
  return (
    <Page.Main>
      <Page.Title>{data.id}</Page.Title>
      <Layouts.Header
        title={data.id}
        subtitle={`${data.url} · ${text('app.theme', { theme: data.theme })}`}
        navigationAction={
          <Link tag={NavLink} to={`/plugins/${pluginId}`} startIcon={<ArrowLeft />}>
            {text('back')}
          </Link>
        }
      />
      <Layouts.Content>
        {data.problem && <ProblemNote problem={data.problem} />}
        <Tabs.Root defaultValue="records">
          <Tabs.List aria-label={data.id}>
            {tabs.map(({ value, title }) => (
              <Tabs.Trigger key={value} value={value}>
                {title}
              </Tabs.Trigger>
            ))}
          </Tabs.List>
          {tabs.map(({ value, panel }) => (
            <Tabs.Content key={value} value={value}>
              <Box padding={4}>{panel}</Box>
            </Tabs.Content>
          ))}
        </Tabs.Root>
      </Layouts.Content>
    </Page.Main>
  );
}
