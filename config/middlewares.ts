import type { Core } from '@strapi/strapi';

type Env = Core.Config.Shared.ConfigParams['env'];

/** Origins of this server: addresses in its pages begin with one of them. */
function ownOrigins(env: Env): string[] {
  const publicUrl = env('PUBLIC_URL', '');
  if (/^https?:/.test(publicUrl)) return [new URL(publicUrl).origin];
  // Without the default port, as browsers send them.
  return ['localhost', '127.0.0.1', '[::1]'].map((name) => new URL(`http://${name}:${env.int('PORT', 1337)}`).origin);
}

/**
 * Which pages of other origins may use the APIs from a browser (docs/operate/access.md#pages-of-other-origins): those of a
 * fixed list, and without cookies. Strapi's default lets any page read with the visitor's.
 */
const cors = (env: Env) => ({
  origin: [...ownOrigins(env), ...env.array('APPS_CORS_ORIGINS', [])],
  credentials: false,
  headers: [
    'Content-Type',
    'Authorization',
    'Origin',
    'Accept',
    'X-CSRF-TOKEN',
    'If-Match',
    'If-None-Match',
    'Idempotency-Key',
  ],
  expose: ['X-CSRF-TOKEN', 'ETag', 'Location', 'Link', 'X-Total-Count', 'Retry-After'],
});

const config = ({ env }: Core.Config.Shared.ConfigParams): Core.Config.Middlewares => [
  'strapi::logger',
  'strapi::errors',
  'strapi::security',
  { name: 'strapi::cors', config: cors(env) },
  'strapi::poweredBy',
  'strapi::query',
  { name: 'strapi::body', config: { jsonLimit: '1mb', formLimit: '1mb', textLimit: '1mb' } },
  'strapi::session',
  'strapi::favicon',
  'strapi::public',
];

export default config;
