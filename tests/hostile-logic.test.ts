import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage, type Row, type Stage } from './support/stage';
import { runTable } from './support/table';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage?.close());

const table = (rows: readonly Row[]) => runTable(() => stage, rows);

describe('nothing that logic does can stop, block or reach the server', () => {
  const bad = (element: string, status: number, error: string): Row => ({
    it: element,
    send: `POST hostile/blocks/bad/${element}`,
    status,
    error,
  });
  table([
    bad('forever', 504, 'LogicTimeoutError'),
    bad('never', 504, 'LogicTimeoutError'),
    bad('regexp', 504, 'LogicTimeoutError'),
    bad('getter', 504, 'LogicTimeoutError'),
    bad('calls', 500, 'LogicError'),
    bad('result', 500, 'LogicError'),
    bad('deep', 500, 'LogicError'),
    bad('logs', 500, 'LogicError'),
    { it: 'Node cannot be reached', send: 'POST hostile/blocks/bad/reach', status: 200, is: [] },
    { it: 'built-ins can be broken', send: 'POST hostile/blocks/bad/pollute', status: 200 },
    {
      it: 'for oneself alone',
      send: 'POST hostile/blocks/bad/polluted',
      status: 200,
      is: { left: 'undefined', polluted: 'undefined', map: [1] },
    },
  ]);

  test.each(['memory', 'thrown'])('%s ends in an error', async (element) => {
    const { status, json } = await stage.send<{ error: { name: string } }>({
      send: `POST hostile/blocks/bad/${element}`,
    });
    expect([500, 503, 504]).toContain(status);
    expect(json.error.name).toMatch(/^(LogicError|LogicTimeoutError|ServiceUnavailableError)$/);
    expect((await stage.send({ send: 'POST hostile/blocks/bad/good' })).json).toBe('good');
  });

  test('others are served while one loops', async () => {
    const looping = stage.send({ send: 'POST hostile/blocks/bad/forever' });
    await new Promise((done) => setTimeout(done, 200));
    const started = Date.now();
    for (let time = 0; time < 5; time += 1)
      expect((await stage.send({ send: 'POST hostile/blocks/bad/good' })).json).toBe('good');
    expect(Date.now() - started).toBeLessThan(1_500);
    expect((await looping).status).toBe(504);
  });
});
