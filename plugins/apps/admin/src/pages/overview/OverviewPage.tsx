import { Flex, Link } from '@strapi/design-system';
import { Layouts, Page } from '@strapi/strapi/admin';
import { NavLink } from 'react-router-dom';
import { useErrorText } from '../../api/base';
import { useAppsOverviewQuery } from '../../api/sites';
import { useMay } from '../../permissions';
import { pluginId, useText } from '../../plugin';
import { RulesCard } from '../rules/RulesCard';
import { ProblemsCard } from './ProblemsCard';
import { SetupNotes } from './SetupNotes';
import { SiteCard } from './SiteCard';

/** All sites with their active theme and their apps. */
export function OverviewPage() {
  const text = useText();
  const may = useMay();
  const textOf = useErrorText();
  const { data, error } = useAppsOverviewQuery();
  if (!data) return error ? <Page.Error content={textOf(error) ?? ''} /> : <Page.Loading />;
  return (
    <Page.Main>
      <Page.Title>{text('title')}</Page.Title>
      <Layouts.Header
        title={text('title')}
        subtitle={text('subtitle')}
        primaryAction={
          <Flex gap={4}>
            {may(['jobs']) && (
              <Link tag={NavLink} to={`/plugins/${pluginId}/jobs`}>
                {text('jobs')}
              </Link>
            )}
            {may(['audit']) && (
              <Link tag={NavLink} to={`/plugins/${pluginId}/audit`}>
                {text('audit')}
              </Link>
            )}
          </Flex>
        }
      />
      <Layouts.Content>
        <Flex direction="column" alignItems="stretch" gap={6}>
          <SetupNotes problems={data.setup} />
          <ProblemsCard sites={data.sites} />
          {data.sites.map((site) => (
            <SiteCard key={site.id} site={site} themes={data.themes} editing={data.editing} />
          ))}
          {may(['read', 'develop']) && <RulesCard />}
        </Flex>
      </Layouts.Content>
    </Page.Main>
  );
}
