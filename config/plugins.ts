import { createHash } from 'node:crypto';
import type { Core } from '@strapi/strapi';

const allowedUploads = [
  'image/*',
  'video/*',
  'audio/*',
  'application/pdf',
  'application/msword',
  'application/vnd.openxmlformats-officedocument.*',
  'text/plain',
  'text/csv',
];

const deniedUploads = [
  'image/svg+xml',
  'application/vnd.microsoft.portable-executable',
  'application/x-msdownload',
  'application/x-msdos-program',
  'application/x-executable',
  'application/x-dosexec',
  'application/x-sh',
  'text/x-shellscript',
  'application/x-mach-binary',
];

/** As in src/demo: the command line reads this file by itself. */
const wish = process.env.APPS_DEMO?.trim().toLowerCase() || String(process.env.NODE_ENV !== 'production');
const demoIsOn = wish === 'true' || wish === 'empty';

/** The demo in German: the same theme, with records of its own. */
const german = { id: 'bibliothek', title: 'Bücherei Lindenau', theme: 'demo', locale: 'de' };

/** Where the demo's neighbours listen (src/demo/neighbours.ts); the files of its apps have this address, too. */
const neighbours = '127.0.0.1:13371';

/** Whom the demo's apps may call, and the secret that signs webhooks: another one in each installation. */
const callsOfDemo = (appKeys: string) => ({
  hosts: { comments: [neighbours], delivery: [neighbours] },
  private: [neighbours],
  secrets: {
    screen: { value: `whsec_${createHash('sha256').update(`screen ${appKeys}`).digest('base64')}`, hosts: [] },
  },
});

const config = ({ env }: Core.Config.Shared.ConfigParams): Core.Config.Plugin => ({
  apps: {
    enabled: true,
    config: {
      sites: [
        { id: env('APPS_SITE', 'site'), title: 'Demo site', theme: env('APPS_THEME', 'demo') },
        ...(env('APPS_THEME', 'demo') === 'demo' && demoIsOn ? [german] : []),
      ],
      content: {
        'api::article.article': { path: '/articles/:slug' },
        'api::page.page': { path: '/:slug' },
      },
      metrics: { token: env('METRICS_TOKEN', '') },
      log: { format: env('LOG_FORMAT', 'text') },
      ...(env('APPS_THEME', 'demo') === 'demo' && demoIsOn ? { fetch: callsOfDemo(env('APP_KEYS', '')) } : {}),
    },
  },
  'users-permissions': {
    config: { jwtManagement: 'refresh', sessions: { httpOnly: true } },
  },
  upload: {
    config: { security: { allowedTypes: allowedUploads, deniedTypes: deniedUploads } },
  },
});

export default config;
