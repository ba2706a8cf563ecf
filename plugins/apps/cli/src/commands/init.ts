import type { Command } from '../command';

export const init: Command = {
  usage: 'init',
  summary: 'make a themes folder with a small complete theme and one app',
  options: [{ flags: '--theme <id>', summary: 'id of the theme', default: 'default' }],
  load: () => import('../init'),
};
