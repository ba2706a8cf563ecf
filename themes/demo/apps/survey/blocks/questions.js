import { verdictOf } from '../lib/verdict';

/** The articles that this visitor may read, asked from Strapi with the visitor's own permissions. */
export function favourite_options({ api }) {
  const articles = api
    .documents('api::article.article')
    .findMany({ fields: ['title', 'slug'], sort: 'title', limit: 50 });
  return articles.map(({ slug, title }) => ({ value: slug, label: title }));
}

/** Where the visitor comes from: …/blocks/questions?from=newsletter. */
export function source({ request }) {
  return request.get('from', 'site');
}

export function start_over({ block }) {
  return block.url;
}

export function verdict({ record }) {
  return verdictOf(record.score);
}

export function answered_at() {
  return new Date().toISOString();
}

/** Who answers may not read answers, so the record's own page is not for them. From now on `answer` shows it. */
export function on_save({ app, record }) {
  record.set_block('answer');
  return app.get_block('thanks').url;
}
