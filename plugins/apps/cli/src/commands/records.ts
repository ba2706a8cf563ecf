import type { Command } from '../command';

export const check: Command = {
  usage: 'check',
  summary: 'compare the records of all apps with their indexes',
  options: [{ flags: '--repair', summary: 'correct what is wrong' }],
  load: () => import('../records/check'),
};

export const reindex: Command = {
  usage: 'reindex <site> <app>',
  summary: 'index all records of an app again',
  options: [{ flags: '--rebuild', summary: 'drop the indexes before' }],
  load: () => import('../records/reindex'),
};
