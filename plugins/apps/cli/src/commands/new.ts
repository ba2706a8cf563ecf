import type { Command } from '../command';

const theme = {
  flags: '--theme <id>',
  summary: 'the theme that gets it (default: that of the first configured site, else the only one)',
};

export const newCommand: Command = {
  usage: 'new',
  summary: 'add an app or a block to a theme',
  commands: [
    {
      usage: 'app <id>',
      summary: 'add an app',
      arguments: { id: 'id of the app: its folder and address' },
      options: [
        {
          flags: '--from <template>',
          summary: 'what the app begins with',
          choices: ['poll', 'comments', 'contact', 'survey', 'glossary', 'rating'],
        },
        theme,
      ],
      load: () => import('../new/app'),
    },
    {
      usage: 'block <path>',
      summary: 'add a block to an app',
      arguments: { path: '<app>/<block>' },
      options: [
        { flags: '--language <language>', summary: 'of its logic', choices: ['js', 'ts', 'python'], default: 'js' },
        theme,
      ],
      load: () => import('../new/block'),
    },
  ],
};
