import { Link, Typography } from '@strapi/design-system';
import { NavLink } from 'react-router-dom';
import { useMay } from '../../permissions';
import { useText } from '../../plugin';
import { jobsPath } from './lists';

/** The number of an app's dead jobs, which leads to them. */
export function DeadJobs({ site, app, count }: { site: string; app: string; count: number }) {
  const text = useText();
  const label = text('jobs.dead', { count });
  return useMay()(['jobs']) ? (
    <Link tag={NavLink} to={jobsPath({ list: 'dead', site, app })}>
      {label}
    </Link>
  ) : (
    <Typography textColor="warning700">{label}</Typography>
  );
}
