import { Box, Link, Typography } from '@strapi/design-system';
import { NavLink } from 'react-router-dom';
import type { SiteOverview } from '../../../../shared/admin-api';
import { ProblemNote } from '../../components/ProblemNote';
import { useText } from '../../plugin';
import { appPath } from '../app/tabs';

/** What does not work in all sites, before anything else: each app with one of its problems, and a link to all of them. */
export function ProblemsCard({ sites }: { sites: SiteOverview[] }) {
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
