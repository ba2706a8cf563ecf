import { jobKinds, jobViews } from '../../../shared/admin-api';
import type { Command, CommandOption } from '../command';

/** Which jobs are meant. */
const filters: readonly CommandOption[] = [
  { flags: '--kind <kind>', summary: 'only jobs of this kind', choices: jobKinds },
  { flags: '--site <id>', summary: 'only jobs of this site' },
  { flags: '--app <id>', summary: 'only jobs of this app' },
  { flags: '--name <name>', summary: 'only jobs of this name, such as <block>/<function>' },
];

const list: Command = {
  usage: 'list',
  summary: 'list jobs, the latest first',
  options: [
    {
      flags: '--state <state>',
      summary: 'only jobs in this state; failed ones wait for their next try',
      choices: jobViews,
    },
    ...filters,
    { flags: '--limit <number>', summary: 'how many, at most', default: '100' },
  ],
  examples: ['strapi-plugin-apps jobs list --state dead', 'strapi-plugin-apps jobs list --app news --json'],
  load: () => import('../jobs/list'),
};

const retry: Command = {
  usage: 'retry [id]',
  summary: 'run a job again, or all dead ones: the running server does it at once, with all tries',
  arguments: { id: 'id of a job that does not run' },
  options: [{ flags: '--dead', summary: 'all dead jobs' }, ...filters],
  examples: ['strapi-plugin-apps jobs retry --dead --kind webhook'],
  load: () => import('../jobs/change').then(({ retry: run }) => ({ run })),
};

const deleteCommand: Command = {
  usage: 'delete <id>',
  summary: 'delete a job that does not run: what it was to do is not done',
  load: () => import('../jobs/change').then(({ remove: run }) => ({ run })),
};

export const jobs: Command = {
  usage: 'jobs',
  summary: 'show what apps have still to do, run jobs again, delete them',
  commands: [list, retry, deleteCommand],
};
