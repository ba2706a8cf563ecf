import type { Core } from '@strapi/strapi';
import { announce } from './announce';
import { makeContent } from './content';
import { printMails } from './mails';
import { startNeighbours } from './neighbours';
import { makeRecords } from './records';
import { makeAdministrator, makeUsers } from './users';

/** Content types whose first entry shows that the database is in use. */
const signsOfUse = ['admin::user', 'plugin::users-permissions.user', 'api::article.article', 'api::page.page'] as const;

/**
 * APPS_DEMO decides; without it the demo is on everywhere except in production
 * (docs/reference/configuration.md#the-demo).
 */
export function demoIsOn(environment: { APPS_DEMO?: string; NODE_ENV?: string }): boolean {
  const wish = environment.APPS_DEMO?.trim().toLowerCase();
  return wish ? wish === 'true' || wish === EMPTY : environment.NODE_ENV !== 'production';
}

/** The demo without records of its apps. */
const EMPTY = 'empty';

async function databaseIsEmpty(strapi: Core.Strapi): Promise<boolean> {
  for (const uid of signsOfUse) {
    if ((await strapi.db.query(uid).count()) > 0) return false;
  }
  return true;
}

/** Starts what the demo speaks with, and prints its mails, at each start while it is on, and makes the demo at the first one. */
export async function startDemo(strapi: Core.Strapi): Promise<void> {
  if (!demoIsOn(process.env)) return;
  printMails(strapi);
  startNeighbours(strapi);
  await makeDemo(strapi);
}

/**
 * Makes the demo's users, permissions, content and records on the first start, and prints the users and the addresses to try.
 * Does nothing when the database holds anything already (docs/reference/configuration.md#the-demo).
 */
async function makeDemo(strapi: Core.Strapi): Promise<void> {
  const store = strapi.store({ type: 'core', name: 'apps_demo' });
  if (await store.get({ key: 'made' })) return;
  if (!(await databaseIsEmpty(strapi))) return;
  // In one transaction: an interrupted start leaves no part of a demo, and no user whose password was never printed.
  const people = await strapi.db.transaction(async () => {
    await store.set({ key: 'made', value: true });
    const users = await makeUsers(strapi);
    const administrator = await makeAdministrator(strapi);
    await makeContent(strapi);
    return [...users, administrator];
  });
  // Records are written in transactions of their own.
  if (process.env.APPS_DEMO?.trim().toLowerCase() !== EMPTY) await makeRecords(strapi);
  announce(strapi, people);
}
