import { Page } from '@strapi/strapi/admin';
import { Route, Routes } from 'react-router-dom';
import { AppPage } from './AppPage';
import { OverviewPage } from './OverviewPage';
import { RulePage } from './RulePage';

/** The plugin's pages, for administrators who may manage apps. */
export function Pages() {
  return (
    <Page.Protect permissions={[{ action: 'plugin::apps.manage', subject: null }]}>
      <Routes>
        <Route index element={<OverviewPage />} />
        <Route path="sites/:site/apps/:app" element={<AppPage />} />
        <Route path="rules/:rule" element={<RulePage />} />
        <Route path="*" element={<Page.Error />} />
      </Routes>
    </Page.Protect>
  );
}
