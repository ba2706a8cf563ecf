import type { ThemeCopy } from '../../support/theme';

const definition = `
elements:
  name: TEXT
  cv: { type: FILE, accept: [.pdf, .txt, .csv] }
  photo: IMAGE
  more: { type: REPEAT, elements: { cv: FILE } }
  shop: { type: IMAGE, public: true, folder: shop }
`;
const layout = '{name} {cv} {photo} {more} {shop} {_save} [{{ context.record.cv.url }}]';
const rights = (lists: string) => `acl:\n  rights: { ${lists} }\n`;

/** Apps whose records have private files: `cv` and `twin` of users, `mine` of visitors. */
export async function privateApps(copy: ThemeCopy): Promise<void> {
  const acl = "reader: [readers], submitter: ['*'], owner: ['*'], editor: [editors]";
  await copy.write('main/apps/mine/settings.yaml', `visitor: true\n${rights("submitter: ['*'], owner: ['*']")}`);
  await copy.write('main/apps/mine/blocks/apply.yaml', definition);
  await copy.write('main/apps/mine/blocks/apply.html', layout);
  await copy.write('main/apps/mine/blocks/own.yaml', 'elements: { own: BASIC }\n');
  await copy.write('main/apps/mine/blocks/own.html', '{own}');
  await copy.write(
    'main/apps/mine/blocks/own.js',
    `export const own = ({ app }) =>
'[' + app.search('', { own: true }).map((one) => one.name) + '] ' + app.count('', { own: true }) + ' of ' + app.count();
`,
  );
  for (const app of ['cv', 'twin']) {
    await copy.write(`main/apps/${app}/settings.yaml`, `history: true\n${rights(acl)}`);
    await copy.write(`main/apps/${app}/blocks/apply.yaml`, definition);
    await copy.write(`main/apps/${app}/blocks/apply.html`, layout);
    await copy.write(
      `main/apps/${app}/blocks/apply.js`,
      `export function on_save({ app, record, get_app }) {
if (record.name === 'copies') app.create_record('copied').save({ cv: record.cv });
if (record.name === 'elsewhere') get_app('twin').create_record('elsewhere').save({ cv: record.cv });
}`,
    );
    await copy.write(`main/apps/${app}/blocks/all.yaml`, 'elements: { all: BASIC }\n');
    await copy.write(`main/apps/${app}/blocks/all.html`, '{all}');
    await copy.write(
      `main/apps/${app}/blocks/all.js`,
      "export const all = ({ app }) => app.records().map((one) => one.get('cv')?.url ?? '').join(' ');\n",
    );
  }
}
