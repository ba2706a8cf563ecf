/**
 * The process that runs the tests of apps: started by `strapi-plugin-apps test`, with `StartedTests` as its only argument
 * and `reporter.mjs` as reporter of node:test.
 */
import { join } from 'node:path';
import type { StartedTests } from '../../shared/test-events';
import { createSession, installClock } from './app';
import { Browser } from './browser';
import { testFiles } from './files';
import { createContent, createPeople } from './fixtures';
import { CannotTest, type StartedHost, startHost } from './host';
import { pluginOf } from './plugin';
import { runTests, send } from './runner';

async function prepare({ strapi }: StartedHost, options: StartedTests) {
  const { tools, records } = pluginOf(strapi);
  const site = await tools.site(options.site);
  if (!site) throw new CannotTest(`The configuration has no site "${options.site}"`);
  const files = testFiles(site, options);
  const people = createPeople(strapi);
  const content = createContent(strapi, tools, site.id);
  await people.openContent();
  await content.remember();
  const newBrowser = () => new Browser(strapi.server.httpServer);
  const session = createSession({ site, people, content, tools, records, newBrowser });
  const apps = site.apps.map((app) => session.tested(app));
  const begin = async () => {
    session.reset();
    tools.clearRenderings();
    await tools.forgetSchedules();
    for (const { records } of apps) await records.clear();
    await content.reset();
    await people.reset();
    for (const uid of passing) await strapi.db.query(uid).deleteMany({});
  };
  const folders = [...new Set(site.apps.map(({ folder }) => join(folder, '..', '..')))];
  const pattern = options.pattern === undefined ? undefined : new RegExp(options.pattern);
  const { timeout } = options;
  return {
    files,
    folders,
    pattern,
    timeout,
    tested: (file: (typeof files)[number]) => session.tested(file.app),
    begin,
  };
}

/**
 * Content types of the plugin whose entries belong to one test: what apps have still to do, what counts visits, what is kept of records
 * that are gone, and who wants no mails.
 */
const passing = ['form-post', 'mail', 'mail-refusal', 'job', 'history', 'draft'].map(
  (name) => `plugin::apps.${name}` as const,
);

async function main(options: StartedTests): Promise<void> {
  let host: StartedHost | undefined;
  try {
    installClock();
    host = await startHost(options);
    const run = await prepare(host, options);
    send({ type: 'ready', files: run.files.length });
    setInterval(() => send({ type: 'alive' }), 1000).unref();
    await runTests(run);
    await host.stop();
  } catch (error) {
    const { message, cure } = error as CannotTest;
    const text = error instanceof CannotTest ? message : String((error as Error)?.stack ?? error);
    send({ type: 'problem', message: text, ...(cure !== undefined && { cure }) });
    await host?.stop().catch(() => undefined);
  }
  // node:test reports when nothing is left to do; a host may leave timers behind.
  process.once('beforeExit', () => send({ type: 'end' }));
  setTimeout(() => {
    send({ type: 'end' });
    process.exit();
  }, 1000).unref();
}

// The command has been ended.
process.once('disconnect', () => process.exit());

void main(JSON.parse(process.argv[2] ?? '{}') as StartedTests);
