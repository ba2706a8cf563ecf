/** An app with comments of articles: blocks that wait for those of one article alone. */
export const talkApp: Record<string, string> = {
  'apps/talk/settings.yaml': `acl:
  rights:
    author: [Public]
`,
  'apps/talk/blocks/comment.yaml': `elements:
  article: { type: TEXT, index_type: field }
  text: { type: TEXT, index_type: text }
  stars: { type: NUMBER, index_type: field }
  other: TEXT
`,
  'apps/talk/blocks/comment.html': '{article}{text}{stars}{other}{_save}',
  'apps/talk/blocks/latest.yaml': 'refresh: on-change\nelements: { list: BASIC }\n',
  'apps/talk/blocks/latest.html': '<ol>{list}</ol>',
  'apps/talk/blocks/latest.js': `
export function list({ app, request }) {
  const names = { wanted: request.get('article') };
  return app.search('article == wanted', { names, sort_index: 'id', reverse: true, limit: 10 }).map(({ id }) => id).join();
}`,
  'apps/talk/blocks/number.yaml': 'refresh: on-change\nelements: { total: BASIC }\n',
  'apps/talk/blocks/number.html': '<b>{total}</b>',
  'apps/talk/blocks/number.js': `
export const total = ({ app, request }) => String(app.count('article == wanted', { names: { wanted: request.get('article') } }));`,
  'apps/talk/blocks/found.yaml': 'refresh: on-change\nelements: { list: BASIC }\n',
  'apps/talk/blocks/found.html': '<ol>{list}</ol>',
  'apps/talk/blocks/found.js': `
export const list = ({ app }) => app.search("'great' in text and stars > 3").map(({ id }) => id).join();`,
  'apps/talk/blocks/all.yaml': 'refresh: on-change\nelements: { total: BASIC }\n',
  'apps/talk/blocks/all.html': '<b>{total}</b>',
  'apps/talk/blocks/all.js': 'export const total = ({ app }) => String(app.count());',
};
