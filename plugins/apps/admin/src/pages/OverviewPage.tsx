import { Flex } from '@strapi/design-system';
import { Layouts, Page } from '@strapi/strapi/admin';
import { useApi, useLoaded } from '../api';
import { RulesCard } from '../components/RulesCard';
import { SetupNotes } from '../components/SetupNotes';
import { SiteCard } from '../components/SiteCard';
import { useText } from '../plugin';

/** All sites with their active theme and their apps. */
export function OverviewPage() {
  const text = useText();
  const api = useApi();
  const { data, error, reload } = useLoaded(api.overview);
  if (error) return <Page.Error content={error} />;
  if (!data) return <Page.Loading />;
  return (
    <Page.Main>
      <Page.Title>{text('title')}</Page.Title>
      <Layouts.Header title={text('title')} subtitle={text('subtitle')} />
      <Layouts.Content>
        <Flex direction="column" alignItems="stretch" gap={6}>
          <SetupNotes problems={data.setup} />
          {data.sites.map((site) => (
            <SiteCard key={site.id} site={site} themes={data.themes} onChange={reload} />
          ))}
          <RulesCard />
        </Flex>
      </Layouts.Content>
    </Page.Main>
  );
}
