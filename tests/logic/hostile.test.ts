import { describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useStage } from '../support/hooks';
import type { Row } from '../support/stage';
import { runTable } from '../support/table';
import { timed, timeForMore } from '../support/time';

// Few calls, so that a busy machine reaches their number before the time of logic is over.
const stage = useStage({ env: configured({ apps: { limits: { hostCalls: 100, logicTime: 2000 } } }) });

describe('nothing that logic does can stop, block or reach the server', () => {
  const bad = (element: string, status: number, error: string): Row => ({
    title: `logic of the element ${element} is refused`,
    send: `POST hostile/blocks/bad/${element}`,
    status,
    error,
  });
  runTable(stage, [
    bad('forever', 504, 'LogicTimeoutError'),
    bad('never', 500, 'LogicError'),
    bad('regexp', 504, 'LogicTimeoutError'),
    bad('getter', 504, 'LogicTimeoutError'),
    bad('calls', 500, 'LogicError'),
    bad('result', 500, 'LogicError'),
    bad('deep', 500, 'LogicError'),
    bad('logs', 500, 'LogicError'),
    { title: 'logic cannot reach Node.js', send: 'POST hostile/blocks/bad/reach', status: 200, is: [] },
    { title: 'logic can break built-ins', send: 'POST hostile/blocks/bad/pollute', status: 200 },
    {
      title: 'broken built-ins are broken for that run alone',
      send: 'POST hostile/blocks/bad/polluted',
      status: 200,
      is: { left: 'undefined', polluted: 'undefined', map: [1] },
    },
  ]);

  test.each(['memory', 'thrown'])('logic of the element %s ends in an error', async (element) => {
    const { status, json } = await stage.send<{ error: { name: string } }>({
      send: `POST hostile/blocks/bad/${element}`,
    });
    expect([500, 503, 504]).toContain(status);
    expect(json.error.name).toMatch(/^(LogicError|LogicTimeoutError|ServiceUnavailableError)$/);
    expect((await stage.send({ send: 'POST hostile/blocks/bad/good' })).json).toBe('good');
  });

  test('others are served while one loops', async () => {
    const looping = stage.send({ send: 'POST hostile/blocks/bad/forever' });
    await timeForMore();
    const { time } = await timed(async () => {
      for (let round = 0; round < 5; round += 1)
        expect((await stage.send({ send: 'POST hostile/blocks/bad/good' })).json).toBe('good');
    });
    expect(time).toBeLessThan(1_500);
    expect((await looping).status).toBe(504);
  });
});
