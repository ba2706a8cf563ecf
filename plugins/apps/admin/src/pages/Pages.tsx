import { Page } from '@strapi/strapi/admin';
import { lazy, Suspense } from 'react';
import { Route, Routes } from 'react-router-dom';
import { seePermissions } from '../permissions';
import { AppPage } from './app/AppPage';
import { OverviewPage } from './overview/OverviewPage';

const AuditPage = lazy(() => import('./AuditPage'));
const JobsPage = lazy(() => import('./jobs/JobsPage'));
const PersonsPage = lazy(() => import('./PersonsPage'));
const RulePage = lazy(() => import('./RulePage'));

/** The plugin's pages, for administrators with any of its permissions. */
export default function Pages() {
  return (
    <Page.Protect permissions={seePermissions}>
      <Suspense fallback={<Page.Loading />}>
        <Routes>
          <Route index element={<OverviewPage />} />
          <Route path="audit" element={<AuditPage />} />
          <Route path="jobs" element={<JobsPage />} />
          <Route path="persons" element={<PersonsPage />} />
          <Route path="rules/:rule" element={<RulePage />} />
          <Route path=":site/:app/:tab?" element={<AppPage />} />
          <Route path="*" element={<Page.Error />} />
        </Routes>
      </Suspense>
    </Page.Protect>
  );
}
