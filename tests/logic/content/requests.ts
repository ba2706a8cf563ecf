import { expect } from 'vitest';
import { article } from '../../support/seed';
import { type Headers, send } from '../../support/send';
import type { Stage } from '../../support/stage';
import { repository } from '../../support/theme';

interface Outcome {
  value?: unknown;
  error?: string;
  message?: string;
}

/** What the tests of content send as a requester of `headers`, and read from the database. */
export function requestsOf(stage: Stage, headers: Record<string, Headers>) {
  async function request<T>(who: string, method: string, path: string, json?: unknown) {
    const token = await send(stage.host.url, { method: 'GET', path: '/site/@@apps/open', headers: headers[who] });
    const common = {
      accept: 'application/json',
      'x-csrf-token': String(token.headers['x-csrf-token']),
      ...headers[who],
    };
    return send<T>(stage.host.url, { method, path: `/site${path}`, headers: common, json });
  }

  /** Calls `context.api.documents(uid).<method>(params)` as `who`; returns what the logic saw. */
  async function documents(who: string, method: string, params: object = {}, uid = article): Promise<Outcome> {
    const answer = await request<Outcome>(who, 'POST', '/@@apps/content/blocks/api/call', { uid, method, params });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.text).not.toMatch(/hush-|node_modules|select /i);
    expect(answer.text).not.toContain(repository);
    return answer.json;
  }

  const stored = (slug: string) =>
    stage.host.run(async (strapi, slug) => {
      const where = { filters: { slug } };
      const draft = await strapi.documents('api::article.article').findFirst({ ...where, status: 'draft' });
      const published = await strapi.documents('api::article.article').findFirst({ ...where, status: 'published' });
      return { draft, published } as Record<'draft' | 'published', { title: string; secret: string } | null>;
    }, slug);

  return { request, documents, stored };
}
