import { Box, Link, Tabs, Typography } from '@strapi/design-system';
import { ArrowLeft } from '@strapi/icons';
import { Layouts, Page } from '@strapi/strapi/admin';
import { Suspense, useEffect, useRef } from 'react';
import { Navigate, NavLink, useNavigate, useParams } from 'react-router-dom';
import type { AppMails } from '../../../../shared/admin-api';
import { useAppsAppQuery } from '../../api/apps';
import { useErrorText } from '../../api/base';
import { ProblemNote } from '../../components/page';
import { useMay } from '../../permissions';
import { pluginId, useText } from '../../plugin';
import { DeadJobs } from '../jobs/DeadJobs';
import { appPath, tabs } from './tabs';

/** What an administrator should know about mails of the app that were not sent, or not yet. */
function MailNotes({ mails: { waiting, tried, next, kept } }: { mails: AppMails }) {
  const text = useText();
  const at = next === null ? '' : new Date(next).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  return (
    <>
      {waiting > 0 && <Note>{text('mails.waiting', { waiting, tried, at })}</Note>}
      {kept > 0 && <Note>{text('mails.kept', { kept })}</Note>}
    </>
  );
}

const Note = ({ children }: { children: string }) => (
  <Box role="note" paddingTop={1} paddingBottom={1}>
    <Typography textColor="warning700" tag="p">
      {children}
    </Typography>
  </Box>
);

/** One app of one site: its pages as tabs, of which only the shown one is loaded. */
export function AppPage() {
  const text = useText();
  const may = useMay();
  const textOf = useErrorText();
  const navigate = useNavigate();
  const { site = '', app = '', tab = '' } = useParams();
  const { data, error } = useAppsAppQuery({ site, app });
  const list = useRef<HTMLDivElement>(null);
  const isLoaded = data !== undefined;
  // On a narrow screen the tabs are wider than the page.
  useEffect(() => {
    const chosen = isLoaded && tab && list.current?.querySelector('[aria-selected=true]');
    if (chosen) chosen.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [isLoaded, tab]);
  const shown = tabs.filter(({ needs, isIn }) => may(needs) && (!data || !isIn || isIn(data)));
  if (!shown.some(({ path }) => path === tab)) {
    const first = shown.find(({ path }) => path === 'records') ?? shown[0];
    return first ? <Navigate to={appPath(site, app, first.path)} replace /> : <Page.NoPermissions />;
  }
  if (!data) return error ? <Page.Error content={textOf(error) ?? ''} /> : <Page.Loading />;
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
        <MailNotes mails={data.mails} />
        {data.deadJobs > 0 && (
          <Box role="note" paddingTop={1} paddingBottom={1}>
            <DeadJobs site={site} app={app} count={data.deadJobs} />
          </Box>
        )}
        <Tabs.Root value={tab} onValueChange={(path) => navigate(appPath(site, app, path))}>
          <Box overflow="auto" ref={list}>
            <Tabs.List aria-label={data.id}>
              {shown.map(({ path, label, count }) => (
                <Tabs.Trigger key={path} value={path}>
                  {count ? `${text(label)} (${count(data)})` : text(label)}
                </Tabs.Trigger>
              ))}
            </Tabs.List>
          </Box>
          {shown.map(({ path, Panel }) => (
            <Tabs.Content key={path} value={path}>
              <Box padding={{ initial: 2, medium: 4 }}>
                <Suspense fallback={<Page.Loading />}>
                  <Panel key={`${data.site}/${data.id}`} app={data} />
                </Suspense>
              </Box>
            </Tabs.Content>
          ))}
        </Tabs.Root>
      </Layouts.Content>
    </Page.Main>
  );
}
