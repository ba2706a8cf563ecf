/** Apps with references, to articles and to the records of two other apps. */
export const referencesApp: Record<string, string> = {
  'apps/topics/settings.yaml': "acl:\n  rights:\n    editor: ['*']\n",
  'apps/topics/blocks/topic.yaml':
    'elements:\n  title: { type: TEXT, index_type: field }\n  open: { type: BOOLEAN, index_type: field }\n',
  'apps/topics/blocks/topic.html': '{title}{open}{_save}',
  'apps/rooms/settings.yaml': "acl:\n  rights:\n    editor: ['*']\n",
  'apps/rooms/blocks/room.yaml': 'elements: { title: TEXT }\n',
  'apps/rooms/blocks/booking.yaml': 'elements: { room: { type: REFERENCE, app: rooms, block: room, text: title } }\n',
  'apps/rooms/blocks/booking.html': '{room}{_save}',
  'apps/secret/settings.yaml': 'acl:\n  rights:\n    reader: [readers]\n    editor: [editors]\n',
  'apps/secret/blocks/note.yaml': 'elements: { title: TEXT }\n',
  'apps/talks/settings.yaml': "acl:\n  rights:\n    editor: ['*']\n",
  'apps/talks/blocks/talk.yaml': `elements:
  name: { type: TEXT, label: Name }
  topic: { type: REFERENCE, label: Topic, app: topics, block: topic, text: title, required: true, index_type: field }
  open: { type: REFERENCE, label: Open topics, app: topics, query: 'open == true', text: title, multiple: true }
  few: { type: REFERENCE, label: Two topics, app: topics, query: 'open == true', text: title, multiple: true, max: 2, index_type: keyword }
  note: { type: REFERENCE, label: Note, app: secret, text: title }
  article: { type: REFERENCE, label: Article, content: 'api::article.article' }
`,
  'apps/talks/blocks/talk.html':
    '{name}{topic}<b>{topic.title}</b>{open}{few}{note}{article}<i>{{ elements.article.slug }}</i><u>{open.1.title}</u>{_save}{_edit}',
  'apps/talks/blocks/read.yaml': 'elements: { topics: BASIC, articles: BASIC, wrong: BASIC }\n',
  'apps/talks/blocks/read.js': `
const ids = ({ request }, name) => JSON.parse(request.get(name, 'null'));
export const topics = (context) => context.app.references('talk', context.request.get('name'), ids(context, 'ids'));
export const articles = (context) =>
  context.app.references('talk', 'article', ids(context, 'ids')).map(({ id, title, url }) => ({ id, title, url }));
`,
  'apps/talks/blocks/python.yaml': 'elements: { topics: BASIC }\n',
  'apps/talks/blocks/python.py': `
def topics(context):
    return [target['title'] for target in context.app.references('talk', 'topic', ['zebra', ['a/b'], None])]
`,
  'apps/plans/settings.yaml': "acl:\n  rights:\n    editor: ['*']\n",
  'apps/plans/blocks/plan.yaml': `elements:
  days:
    type: REPEAT
    label: Days
    max: 4
    elements:
      name: { type: TEXT, label: Name }
      topic: { type: REFERENCE, label: Topic, app: topics, block: topic, text: title, required: true }
      others: { type: REFERENCE, label: Others, app: topics, query: 'open == true', text: title, multiple: true, max: 3 }
      note: { type: REFERENCE, label: Note, app: secret, text: title }
`,
  'apps/plans/blocks/plan.html': '{days}<b>{days.0.topic.title}</b><i>{days.1.others.0.title}</i>{_save}{_edit}',
  'apps/plans/blocks/read.yaml': 'elements: { topics: BASIC }\n',
  'apps/plans/blocks/read.js': `
export const topics = ({ app, request }) =>
  app.references('plan', request.get('name'), ['zebra', 'gone']).map(({ title }) => title);
`,
  'apps/words/settings.yaml': "acl:\n  rights:\n    editor: ['*']\n",
  'apps/words/blocks/word.yaml':
    'elements: { title: { type: TEXT, index_type: text }, open: { type: BOOLEAN, index_type: field } }\n',
  'apps/words/blocks/choice.yaml':
    'elements: { word: { type: REFERENCE, app: words, text: title, query: "open == true" }, any: { type: REFERENCE, app: words, text: title } }\n',
  'apps/words/blocks/choice.html': '{word}{any}{_save}',
  'apps/lost/settings.yaml': "acl:\n  rights:\n    editor: ['*']\n",
  'apps/lost/blocks/app.yaml': 'elements: { a: { type: REFERENCE, app: nowhere } }\n',
  'apps/lost/blocks/app.html': '{a}',
  'apps/lost/blocks/type.yaml': "elements: { a: { type: REFERENCE, content: 'api::nothing.nothing' } }\n",
  'apps/lost/blocks/type.html': '{a}',
};
