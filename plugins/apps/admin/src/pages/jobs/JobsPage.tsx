import { Flex, Link } from '@strapi/design-system';
import { ArrowLeft } from '@strapi/icons';
import { Layouts, Page } from '@strapi/strapi/admin';
import { NavLink } from 'react-router-dom';
import { useMay } from '../../permissions';
import { pluginId, useText } from '../../plugin';
import { JobsSection } from './JobsSection';
import { SchedulesSection } from './SchedulesSection';

/** What apps have still to do, are doing or have done; and the schedules that make jobs. */
export default function JobsPage() {
  const text = useText();
  return useMay()(['jobs']) ? (
    <Page.Main>
      <Page.Title>{text('jobs')}</Page.Title>
      <Layouts.Header
        title={text('jobs')}
        subtitle={text('jobs.subtitle')}
        navigationAction={
          <Link tag={NavLink} to={`/plugins/${pluginId}`} startIcon={<ArrowLeft />}>
            {text('back')}
          </Link>
        }
      />
      <Layouts.Content>
        <Flex direction="column" alignItems="stretch" gap={6}>
          <JobsSection />
          <SchedulesSection />
        </Flex>
      </Layouts.Content>
    </Page.Main>
  ) : (
    <Page.NoPermissions />
  );
}
