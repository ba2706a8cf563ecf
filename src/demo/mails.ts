import type { Core } from '@strapi/strapi';

interface Mail {
  to?: string;
  subject?: string;
  text?: string;
}

/**
 * Prints mails into the server's log, links included, so that the demo's confirmations can be tried without a mail server. A provider that
 * config/plugins.ts names for Strapi's email plugin stays.
 */
export function printMails(strapi: Core.Strapi): void {
  if (strapi.config.get('plugin::email.provider', 'sendmail') !== 'sendmail') return;
  const send = async ({ to, subject, text }: Mail) => {
    strapi.log.info(`The demo sends no mail. To ${to}: ${subject}\n${text}`);
  };
  Object.assign(strapi.plugin('email'), { provider: { send } });
}
