import { beforeAll, describe, expect } from 'vitest';
import { hasBrowser } from '../support/browser';
import { configured } from '../support/configure';
import { useBrowser, useStage, useThemes } from '../support/hooks';
import { login } from './administrator';
import { archivesInPanel } from './manage/archives';
import { filesInPanel } from './manage/files';
import { historyInPanel } from './manage/history';
import { indexesInPanel } from './manage/indexes';
import { optionsInPanel } from './manage/options';
import type { Panel } from './manage/panel';
import { recordsInPanel } from './manage/records';
import { rightsInPanel } from './manage/rights';
import { rulesInPanel } from './manage/rules';
import { themesInPanel } from './manage/themes';

const files = {
  'settings.yaml': [
    'debug: true',
    'acl:',
    '  rights:',
    '    reader: ["*"]',
    '    author: [authors]',
    '    editor: [editors]',
    'options:',
    '  greeting: hello',
    '  shelves: 3',
    '',
  ].join('\n'),
  'blocks/book.yaml': 'elements:\n  title: { type: TEXT, label: Title, index_type: field }\n',
  'blocks/book.html': '<p>{title}</p>{_save}',
  'blocks/book.js':
    "export function on_delete(context) {\n  if (context.record.get('title') === 'Kept') throw new Error('it is kept');\n}\n",
  'blocks/hello.html': '<p>{{ context.app.options.greeting }} of {{ context.app.options.shelves }}</p>\n',
  'blocks/guarded.yaml': 'view_permission: [editors]\n',
  'blocks/guarded.html': '<p>guarded</p>\n',
  'blocks/events.js': [
    'const note = (context, what) => context.app.create_record(`${what}-${context.content.title}`).save({});',
    "export const greet = (context) => note(context, 'greeted');",
    "export const see = (context) => note(context, 'seen');",
    '',
  ].join('\n'),
  'blocks/broken.js': 'export function never() {\n',
};
const themes = useThemes({
  ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`main/apps/shelf/${name}`, text])),
  'main/apps/logged/settings.yaml': 'history: true\nacl: { rights: { editor: [editors] } }\n',
  'fresh/theme.yaml': 'title: Fresh\n',
  'fresh/layout.html': '<!doctype html><html lang="en"><title>Fresh</title><h1>Fresh</h1>{{ main }}</html>\n',
  'fresh/apps/guest/settings.yaml': 'acl:\n  rights:\n    reader: ["*"]\n',
  'fresh/apps/guest/blocks/hall.html': '<p>a guest</p>\n',
});
const stage = useStage(() => ({
  themesDirectory: themes.directory,
  env: { SERVE_ADMIN: 'true', ...configured({ apps: { editing: true } }) },
}));
const browser = useBrowser();

/** One page for all: another one would load the panel again. */
let opened: Awaited<ReturnType<typeof login>>;
const panel: Panel = {
  stage,
  themes,
  async visit(at, work, expected = /^$/) {
    const { page, errors, open } = opened;
    errors.length = 0;
    await open(at);
    await work(page);
    expect(errors.filter((text) => !expected.test(text))).toEqual([]);
  },
};

describe.runIf(hasBrowser)('an administrator', () => {
  beforeAll(async () => {
    opened = await login(stage, browser, 'root');
  });
  recordsInPanel(panel);
  historyInPanel(panel);
  optionsInPanel(panel);
  indexesInPanel(panel);
  rulesInPanel(panel);
  filesInPanel(panel);
  rightsInPanel(panel);
  archivesInPanel(panel);
  themesInPanel(panel);
});
