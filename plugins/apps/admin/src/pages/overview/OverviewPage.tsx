import { Box, Flex, Link, Typography } from '@strapi/design-system';
import { Layouts, Page } from '@strapi/strapi/admin';
import { NavLink } from 'react-router-dom';
import type { SetupProblem, SiteOverview } from '../../../../shared/admin-api';
import { useAppsOverviewQuery } from '../../api/apps';
import { useErrorText } from '../../api/base';
import { ProblemNote, Verbatim } from '../../components/page';
import { useMay } from '../../permissions';
import { pluginId, useText } from '../../plugin';
import { appPath } from '../app/tabs';
import { RulesCard } from '../RulesCard';
import { SiteCard } from './SiteCard';

/** What does not work in all sites, before anything else: each app with one of its problems, and a link to all of them. */
function ProblemsCard({ sites }: { sites: SiteOverview[] }) {
  const text = useText();
  const apps = sites.flatMap((site) =>
    site.apps.flatMap((app) => (app.problem ? [{ site, app, problem: app.problem }] : [])),
  );
  if (apps.length === 0) return null;
  return (
    <Box
      tag="section"
      aria-label={text('problems')}
      background="danger100"
      borderColor="danger200"
      hasRadius
      padding={6}
    >
      <Typography variant="beta" tag="h2">
        {text('problems')}
      </Typography>
      {apps.map(({ site, app, problem }) => (
        <Box key={`${site.id}/${app.id}`} paddingTop={3}>
          <Link tag={NavLink} to={appPath(site.id, app.id, 'blocks')}>
            {`${site.title} / ${app.id}: ${text('state.problems', { count: app.problems })}`}
          </Link>
          <ProblemNote problem={problem} />
        </Box>
      ))}
    </Box>
  );
}

/** What the machine or the host lacks, each with the command or the line that cures it. */
function SetupNotes({ problems }: { problems: SetupProblem[] }) {
  const text = useText();
  if (problems.length === 0) return null;
  return (
    <Box tag="section" aria-label={text('setup')} background="danger100" borderColor="danger200" hasRadius padding={6}>
      <Typography variant="beta" tag="h2">
        {text('setup')}
      </Typography>
      {problems.map(({ message, cure }) => (
        <Box key={message} role="note" paddingTop={3}>
          <Typography tag="p">{message}</Typography>
          {cure && <Verbatim>{cure}</Verbatim>}
        </Box>
      ))}
    </Box>
  );
}

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
            {may(['persons']) && (
              <Link tag={NavLink} to={`/plugins/${pluginId}/persons`}>
                {text('persons')}
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
