import type { Core } from '@strapi/strapi';
import type { DemoUser } from './users';

/** Addresses below the site that show the demo theme's apps. */
const blocks = [
  ['/articles/welcome/@@apps/rating/blocks/rate', 'like the article "Welcome"'],
  ['/@@apps/rating/blocks/top', 'what is liked most'],
  ['/@@apps/glossary/blocks/list', 'the glossary'],
  ['/@@card', 'apply for a library card: three steps, files, a repeated group, continued later by a link'],
  ['/@@reading', 'register for a reading: twelve places, a waiting list, a mail to confirm (this log shows it)'],
  ['/@@apps/reading/blocks/guests', 'who comes, for editors'],
  ['/@@apps/survey/blocks/questions', 'the reader survey'],
  ['/@@survey-steps', 'the same in three steps'],
  ['/@@poll', 'a poll, one vote a visitor'],
  ['/@@apps/survey/blocks/results', 'its results, for readers and editors'],
  ['/articles/welcome/@@apps/comments/blocks/comment', 'comments on the article "Welcome"'],
  ['/@@apps/comments/blocks/moderate', 'comments that wait, for editors'],
  ['/@@apps/comments/blocks/screen', 'what a webhook has told another program of them, for editors'],
  ['/@@delivery', 'a form that asks a web service for the town of a postal code'],
  ['/@@apps/contact/blocks/message', 'write to the editors'],
];

/** The plugin's base address: Strapi's URL names localhost for 127.0.0.1, and a browser does not send cookies of one to the other. */
function baseUrl(strapi: Core.Strapi): string {
  const url = String(strapi.config.get('server.absoluteUrl')).replace('//0.0.0.0', '//localhost');
  const host = String(strapi.config.get('server.host'));
  return host === '127.0.0.1' && !strapi.config.get('server.url') ? url.replace('//localhost', `//${host}`) : url;
}

/** Prints, on the first start only, the users who can log in and the addresses to try. */
export function announce(strapi: Core.Strapi, users: readonly DemoUser[]): void {
  const base = baseUrl(strapi);
  const site = `${base}/${strapi.config.get('plugin::apps.sites.0.id', 'site')}`;
  const width = Math.max(...users.map(({ username }) => username.length));
  const people = users.map(
    ({ username, password, about }) => `  ${username.padEnd(width)}  ${password.padEnd(26)}  ${about}`,
  );
  const addresses = [
    [`${site}/`, 'the site'],
    [`${site}/@@login?next=${new URL(site).pathname}/@@apps/glossary/blocks/list`, 'log in'],
    ...blocks.map(([path, what]) => [site + path, what]),
    [`${base}/admin`, 'the admin panel'],
  ].map(([url, what]) => `  ${url}  (${what})`);
  const text = ['The demo is made. These passwords are shown this once:', ...people, 'Addresses to try:', ...addresses];
  strapi.log.info(text.join('\n'));
}
