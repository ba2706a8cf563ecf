import type { Core } from '@strapi/strapi';

/** Folders whose files are not the host's own code: a change there must not restart `strapi develop`. */
const notHostCode = ['**/themes/**', '**/plugins/**', '**/tests/**', '**/docs/**', '**/benchmarks/**'];

const config = ({ env }: Core.Config.Shared.ConfigParams): Core.Config.Admin => ({
  auth: { secret: env('ADMIN_JWT_SECRET')! },
  apiToken: { salt: env('API_TOKEN_SALT')! },
  transfer: { token: { salt: env('TRANSFER_TOKEN_SALT')! } },
  secrets: { encryptionKey: env('ENCRYPTION_KEY')! },
  serveAdminPanel: env.bool('SERVE_ADMIN', true),
  autoOpen: false,
  watchIgnoreFiles: notHostCode,
  flags: { nps: false, promoteEE: false, docLinks: true },
});

export default config;
