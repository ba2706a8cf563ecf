import { Box, Link, Status, Typography } from '@strapi/design-system';
import { NavLink } from 'react-router-dom';
import type { SiteOverview } from '../../../../shared/admin-api';
import { DataTable } from '../../components/DataTable';
import { useMay } from '../../permissions';
import { useText } from '../../plugin';
import { appPath } from '../app/tabs';
import { DeadJobs } from '../jobs/DeadJobs';

/** The apps of a site, each with a link to its page. */
export function AppsTable({ site }: { site: SiteOverview }) {
  const text = useText();
  const may = useMay();
  return (
    <DataTable
      label={text('title')}
      empty={text('apps.none')}
      rows={[...site.apps].sort((a, b) => b.problems - a.problems)}
      rowKey={(app) => app.id}
      columns={[
        {
          title: text('app'),
          cell: (app) => (
            <>
              <Link tag={NavLink} to={appPath(site.id, app.id, '')}>
                {app.id}
              </Link>
              {app.theme !== site.theme && (
                <Typography variant="pi" textColor="neutral600" tag="p">
                  {text('app.theme', { theme: app.theme })}
                </Typography>
              )}
            </>
          ),
        },
        { title: text('blocks'), cell: (app) => app.blocks },
        { title: text('records'), cell: (app) => app.records },
        {
          title: text('state'),
          cell: (app) => (
            <>
              <Status variant={app.problems > 0 ? 'danger' : 'success'} size="S" width="max-content">
                <Typography variant="omega">
                  {app.problems > 0 ? text('state.problems', { count: app.problems }) : text('state.fine')}
                </Typography>
              </Status>
              {app.failedRuns > 0 && may(['develop']) && (
                <Box paddingTop={1}>
                  <Link tag={NavLink} to={`${appPath(site.id, app.id, 'runs')}?state=failed`}>
                    {text('runs.failed', { count: app.failedRuns })}
                  </Link>
                </Box>
              )}
              {app.deadJobs > 0 && (
                <Box paddingTop={1}>
                  <DeadJobs site={site.id} app={app.id} count={app.deadJobs} />
                </Box>
              )}
            </>
          ),
        },
      ]}
    />
  );
}
