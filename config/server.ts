import type { Core } from '@strapi/strapi';

const config = ({ env }: Core.Config.Shared.ConfigParams): Core.Config.Server => ({
  host: env('HOST', '0.0.0.0'),
  port: env.int('PORT', 1337),
  url: env('PUBLIC_URL', ''),
  proxy: { koa: env.bool('IS_PROXIED', false) },
  // Longer than a proxy keeps its connections (nginx: 60 s): a form that it sends over one that is being closed is lost.
  http: { serverOptions: { keepAliveTimeout: 75_000 } },
  app: { keys: env.array('APP_KEYS')! },
  webhooks: { populateRelations: env.bool('WEBHOOKS_POPULATE_RELATIONS', false) },
});

export default config;
