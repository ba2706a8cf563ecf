import type { Core } from '@strapi/strapi';

/** Addresses that mean "all interfaces", which a browser cannot open. */
const anyAddress = new Set(['0.0.0.0', '::', '']);

/**
 * Strapi's public URL: `server.url`, or the listening origin; never a header of the request
 * (docs/reference/addresses.md#base-url).
 */
export function createBaseUrl(strapi: Core.Strapi): () => string {
  const configured = String(strapi.config.get('server.url', '') ?? '').replace(/\/+$/, '');
  if (/^https?:\/\//.test(configured)) return () => configured;
  let origin: string | undefined;
  return () => {
    origin ??= listeningOrigin(strapi);
    return (origin ?? String(strapi.config.get('server.absoluteUrl'))) + configured;
  };
}

/** The absolute address of the admin panel, without a slash at its end. @param baseUrl of the host */
export function panelUrl(strapi: Core.Strapi, baseUrl: string): string {
  return new URL(String(strapi.config.get('admin.url', '/admin')), baseUrl).href.replace(/\/+$/, '');
}

function listeningOrigin(strapi: Core.Strapi): string | undefined {
  const address = strapi.server.httpServer.address();
  if (address === null || typeof address === 'string') return undefined;
  const host = String(strapi.config.get('server.host', 'localhost'));
  const name = anyAddress.has(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${address.port}`;
}
