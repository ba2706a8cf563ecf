import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { hasBrowser } from '../support/browser';
import { useBrowser, useStage } from '../support/hooks';
import { html } from '../support/stage';

const stage = useStage();

interface Task {
  algorithm: string;
  challenge: string;
  maxnumber: number;
  salt: string;
  signature: string;
}

const show = (block = 'write') => stage.send({ send: `GET proved/blocks/${block}`, accept: html });

/** The task of a block's form. */
async function taskOf(block?: string): Promise<Task> {
  const { text } = await show(block);
  return JSON.parse(
    (/data-apps-challenge="([^"]*)"/.exec(text)?.[1] ?? '').replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
  );
}

const hash = (text: string) => createHash('sha256').update(text).digest('hex');

/** The proof that the browser script sends. */
function proofOf({ maxnumber, ...task }: Task, changed: object = {}): string {
  let number = 0;
  while (number <= maxnumber && hash(task.salt + number) !== task.challenge) number += 1;
  return Buffer.from(JSON.stringify({ ...task, number, ...changed })).toString('base64');
}

const save = (fields: Record<string, string>, as = 'anonymous') =>
  stage.send({ as, send: 'POST proved/blocks/write', accept: html, form: { name: 'kept', ...fields, _save: '' } });

describe('a form that needs a proof of work', () => {
  test('is taken with a proof, once', async () => {
    const _proof = proofOf(await taskOf());
    expect((await save({ name: '', _proof: proofOf(await taskOf()) })).text).not.toContain('has not solved');
    expect((await save({ _proof })).status).toBe(303);
    const again = await save({ _proof });
    expect(again.status).toBe(422);
    expect(again.text).toContain('value="kept"');
    expect(again.text).toContain('data-apps-challenge=');
  });

  test.each<[string, () => Promise<string>]>([
    ['without one', async () => ''],
    ['with nonsense', async () => 'bnVsbA=='],
    ['with a wrong number', async () => proofOf(await taskOf(), { number: -1 })],
    ['with a task of its own', async () => proofOf({ ...(await taskOf()), salt: 'x&', challenge: hash('x&1') })],
    ['with an unknown algorithm', async () => proofOf(await taskOf(), { algorithm: 'MD5' })],
    ['with a long one', async () => 'x'.repeat(100_000)],
  ])('is refused %s', async (_name, proof) => {
    const answer = await save({ _proof: await proof() });
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('Your browser has not solved the task');
  });

  test('needs none of those who are logged in, nor of JSON', async () => {
    expect((await save({}, 'una')).status).toBe(303);
    expect((await stage.send({ send: 'POST proved', json: { name: 'x' } })).status).toBe(201);
  });

  test('says without JavaScript that it needs it', async () => {
    expect((await show()).text).toMatch(/<noscript><p class="apps-error">This form needs JavaScript/);
  });

  test('gives each visitor of a shared rendering a task of their own', async () => {
    expect((await taskOf('ajax')).challenge).not.toBe((await taskOf('ajax')).challenge);
  });
});

describe.skipIf(!hasBrowser)('in a browser', () => {
  const browser = useBrowser();

  test.each(['write', 'ajax'])('the form of "%s" is sent once its task is solved', async (block) => {
    const { page } = await browser.visitor();
    await page.goto(`${stage.host.url}/site/@@apps/proved/blocks/${block}`);
    await page.fill('input[name=name]', `by ${block}`);
    await page.click('button[name=_save]');
    const names = async () =>
      (await stage.send<{ items: { name: string } }[]>({ send: 'GET proved/records' })).json.map(
        ({ items }) => items.name,
      );
    await expect.poll(names).toContain(`by ${block}`);
  });
});
