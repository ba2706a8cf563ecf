/** The sections of the site with their pages below docs/; a test holds that every page is in one of them. */
export const sections = [
  {
    text: 'Start',
    pages: ['README.md', 'start/install.md', 'tutorial.md', 'recipes/README.md', 'recipes/', 'mistakes.md'],
  },
  {
    text: 'Understand',
    pages: ['architecture.md', 'security.md', 'comparison.md', 'coming-from-rapido.md'],
  },
  {
    text: 'Operate',
    pages: [
      'operate/admin-panel.md',
      'operate/deployment.md',
      'operate/production.md',
      'operate/access.md',
      'operate/storage.md',
      'operate/mail.md',
      'operate/monitoring.md',
      'operate/upgrade.md',
      'operate/backup.md',
      'operate/privacy.md',
      'operate/processes.md',
      'operate/object-storage.md',
      'operate/failover.md',
      'operate/sizing.md',
      'operate/troubleshooting.md',
    ],
  },
  { text: 'Reference', pages: ['reference/README.md', 'reference/', 'limits.md', 'errors.md'] },
  { text: 'Decisions', pages: ['decisions/README.md', 'decisions/'] },
];
