import type { ContextData } from '../types';

/** The context of a session in tests. */
export function contextOf(changed: Partial<ContextData> = {}): ContextData {
  return {
    app: {
      id: 'app',
      url: 'http://x/site/@@apps/app',
      settings: { debug: true },
      options: { colour: 'red' },
      blocks: [{ id: 'test', url: 'http://x/site/@@apps/app/blocks/test' }],
      indexes: ['id', 'total'],
    },
    block: { id: 'test', url: 'http://x/site/@@apps/app/blocks/test' },
    record: null,
    request: {
      method: 'POST',
      url: 'http://x/site/@@apps/app/blocks/test?q=1&form=no',
      path: '/site/@@apps/app/blocks/test',
      query: { q: '1', form: 'no' },
      form: { form: 'yes' },
      body: { body: 5 },
      headers: { accept: 'text/html' },
    },
    parent_request: null,
    portal: {
      id: 'site',
      title: 'Site',
      url: 'http://x/site',
      theme: 'basic',
      locale: 'en',
      time_zone: 'Europe/Berlin',
    },
    content: {
      type: 'api::article.article',
      id: '1',
      documentId: 'd1',
      title: 'News',
      url: 'http://x/site/articles/news',
      locale: 'en',
      path: '/articles/news',
      fields: { title: 'News', slug: 'news' },
    },
    visitor: { id: 'v1' },
    user: { username: 'eric' },
    params: { p: 1 },
    acl: {
      username: 'eric',
      groups: ['editors'],
      rights: ['author'],
      roles: ['boss', 'king'],
      held: ['boss'],
      manager: false,
    },
    ...changed,
  };
}
