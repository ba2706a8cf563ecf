import { expect } from 'vitest';
import { article } from '../../support/seed';
import type { Stage } from '../../support/stage';
import { timeForMore } from '../../support/time';

export const panel = `/content-manager/collection-types/${article}`;

export interface Note {
  event: string;
  rule: string;
  documentId: string;
  title: string;
  path: string;
  secret: string | null;
  user: string | null;
}

export const rule = {
  name: 'r',
  event: 'create',
  contentType: article,
  app: 'watch',
  block: 'content',
  function: 'note',
};

export const events = (found: Note[]) => found.map(({ event }) => event);

/** Rules and their notes. */
export function rulesOf(stage: Stage) {
  /** Makes rules as an administrator would, through the panel. */
  async function makeRules(
    rules: { event: string; function?: string; name?: string; enabled?: boolean; block?: string }[],
  ) {
    for (const { event, function: called = 'note', name = event, enabled = true, block = 'content' } of rules) {
      const json = { name, event, enabled, contentType: article, app: 'watch', block, function: called };
      const answer = await stage.send({ as: 'ada', send: 'POST /apps/rules', json });
      expect(answer.status, answer.text).toBe(201);
    }
  }

  /** A rule from a time when its function existed. */
  const oldRule = (data: object) =>
    stage.host.run(async (strapi, data) => {
      const { documentId } = await strapi.documents('plugin::apps.rule' as never).create({ data: data as never });
      return documentId as string;
    }, data);

  async function notes(): Promise<Note[]> {
    const { json } = await stage.send<{ items: Note }[]>({ send: 'GET watch/records' });
    return json.map(({ items }) => items);
  }

  /** All notes, after no further one has come. */
  async function settled(count: number): Promise<Note[]> {
    await expect.poll(async () => (await notes()).length).toBeGreaterThanOrEqual(count);
    await timeForMore();
    return notes();
  }

  const failures = () =>
    stage.host.run(async (strapi) => {
      const rules = await strapi.db.query('plugin::apps.rule').findMany({ orderBy: { id: 'asc' } });
      return rules.map((rule) => (rule.failures ?? []).map(({ message }: { message: string }) => message));
    });

  const createByApi = async (title: string, as = 'eric') => {
    const answer = await stage.send<{ data: { documentId: string } }>({
      as,
      send: 'POST /api/articles',
      json: { data: { title, slug: title } },
    });
    expect(answer.status, answer.text).toBe(201);
    return answer.json.data.documentId;
  };

  return { makeRules, oldRule, notes, settled, failures, createByApi };
}
