import { beforeAll, describe, expect, test } from 'vitest';
import type { RunAgain, RunDetail, RunSummary, RunsPage } from '../../../plugins/apps/shared/admin/runs';
import { article } from '../../support/seed';
import type { Stage } from '../../support/stage';

const panel = `/content-manager/collection-types/${article}`;

const logic = `
export function keep(context) {
  context.app.log('heard of ' + titleOf(context));
}
const titleOf = ({ content, params }) => (content ?? params.item).title;
export function fail(context) {
  context.app.create_record('heard').save({ title: titleOf(context), event: context.params.event });
  throw new Error('not ' + titleOf(context));
}
`;

interface Files {
  write(path: string, text: string): Promise<unknown>;
}

/** Runs that rules on events have caused: listed by rule, and run again. The app `rules` is in debug mode. */
export function runsOfRules(stage: Stage, themes: Files): void {
  const app = 'main/apps/rules';

  async function asked<T>(as: string, send: string, json?: unknown): Promise<T> {
    const answer = await stage.send<T>({ as, send, json });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.json;
  }
  const makeRule = async (event: string, called: string, block = 'ear') =>
    (
      await asked<{ id: string }>('ada', 'POST /apps/rules', {
        name: `${event} ${called}`,
        event,
        enabled: true,
        contentType: article,
        app: 'rules',
        block,
        function: called,
      })
    ).id;
  const runsOf = async (rule: string, count = 1): Promise<RunSummary[]> => {
    const list = async () => (await asked<RunsPage>('root', `GET /apps/runs?rule=${rule}`)).runs;
    await expect.poll(list).toHaveLength(count);
    return list();
  };
  const write = async (title: string, as = 'publisher') =>
    (await asked<{ data: { documentId: string } }>(as, `POST ${panel}`, { title, slug: title })).data.documentId;
  const detail = (id = '') => asked<RunDetail>('root', `GET /apps/runs/${id}`);
  const again = (id = '', files = {}) => asked<RunAgain>('root', `POST /apps/runs/${id}/again`, { files });

  describe('runs of rules on events', () => {
    beforeAll(async () => {
      await themes.write(
        `${app}/settings.yaml`,
        'debug: true\nacl:\n  rights:\n    author: ["*"]\n    reader: ["*"]\n',
      );
      await themes.write(`${app}/blocks/ear.js`, logic);
      await themes.write(`${app}/blocks/guarded.js`, logic);
      await themes.write(`${app}/blocks/guarded.yaml`, 'view_permission: [Nobodies]\n');
    });

    test('are listed with their rule and item, also those that did not fail, and those whose block was refused', async () => {
      const [kept, failed, guarded] = [
        await makeRule('create', 'keep'),
        await makeRule('create', 'fail'),
        await makeRule('create', 'keep', 'guarded'),
      ];
      await stage.host.run((strapi) => strapi.documents('api::article.article').create({ data: { title: 'by code' } }));
      // Jobs run beside each other: the first ones have ended before the others begin.
      for (const id of [kept, failed, guarded]) await runsOf(id);
      const documentId = await write('heard');
      const [run, byCode] = await runsOf(kept, 2);
      const rule = { event: 'create', contentType: article, documentId, locale: null, published: false };
      expect(run).toMatchObject({ state: 'done', app: 'rules', rule: { id: kept, ...rule }, hasInput: false });
      expect(byCode).toMatchObject({ state: 'done', requester: { name: null } });
      expect((await detail(run?.id)).logs).toMatchObject([{ message: 'heard of heard' }]);
      expect((await runsOf(failed, 2))[0]).toMatchObject({ state: 'failed', error: { message: 'Error: not heard' } });
      const [, refused] = await runsOf(guarded, 2);
      expect(refused).toMatchObject({ state: 'refused', calls: [], error: { name: 'UnauthorizedError' } });
      await stage.send({ send: 'GET rules/blocks/ear' });
      expect((await asked<RunsPage>('root', 'GET /apps/runs?app=rules')).runs.filter((one) => !one.rule)).toEqual([]);
      for (const id of [kept, failed, guarded]) await asked('ada', `DELETE /apps/rules/${id}`);
    });

    test.each(['create', 'delete'])(
      'a failed one of %s runs again for the same item, and writes nothing',
      async (event) => {
        const rule = await makeRule(event, 'fail');
        const title = `heard-of-${event}`;
        const documentId = await write(title);
        if (event === 'delete') await asked('publisher', `DELETE ${panel}/${documentId}`);
        const [failed] = await runsOf(rule);
        expect(failed).toMatchObject({ state: 'failed', hasInput: true, rule: { event, documentId } });
        expect(await again(failed?.id)).toMatchObject({ status: 500, runs: [{ state: 'failed' }] });
        const fixed = logic.replace("throw new Error('not '", "return ('rerun '");
        const unsaved = await again(failed?.id, { 'blocks/ear.js': fixed });
        expect(unsaved.answer).toBe(JSON.stringify(`rerun ${title}`));
        await themes.write(`${app}/blocks/ear.js`, fixed);
        const rerun = await again(failed?.id);
        expect(rerun).toMatchObject({ status: 0, runs: [{ state: 'done', error: null }] });
        expect(rerun.answer).toBe(JSON.stringify(`rerun ${title}`));
        expect(rerun.writes.records.at(-1)).toMatchObject({ app: 'rules', id: 'heard', after: { title, event } });
        expect(await stage.items('rules', 'heard')).toBeNull();
        await runsOf(rule);
        await themes.write(`${app}/blocks/ear.js`, logic);
        await asked('ada', `DELETE /apps/rules/${rule}`);
      },
    );

    test('one of a super administrator does not run again', async () => {
      const rule = await makeRule('create', 'fail');
      await write('of-root', 'root');
      const [failed] = await runsOf(rule);
      const answer = await stage.send({ as: 'root', send: `POST /apps/runs/${failed?.id}/again` });
      expect([answer.status, answer.text]).toEqual([403, expect.stringMatching(/as a super administrator/)]);
      await asked('ada', `DELETE /apps/rules/${rule}`);
    });

    test('one whose item is gone runs again without it, with the item as it was', async () => {
      const rule = await makeRule('create', 'fail');
      const documentId = await write('gone');
      const [failed] = await runsOf(rule);
      await asked('root', `DELETE ${panel}/${documentId}`);
      const rerun = await again(failed?.id, {
        'blocks/ear.js': logic.replace("throw new Error('not '", "return (context.content + ' '"),
      });
      expect(rerun).toMatchObject({ status: 0, answer: JSON.stringify('null gone') });
      await asked('ada', `DELETE /apps/rules/${rule}`);
    });
  });
}
