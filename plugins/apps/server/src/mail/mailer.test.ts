import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Core } from '@strapi/strapi';
import { expect, test } from 'vitest';
import { createMailer } from './mailer';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('deliveries that have ended use no memory', async () => {
  const mailer = createMailer({ strapi: {} as Core.Strapi, logger: {} as never });
  const used = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    return process.memoryUsage().heapUsed;
  };
  const deliver = async (times: number) => {
    for (let time = 0; time < times; time += 1) mailer.deliver([]);
    return used();
  };
  const before = await deliver(1_000);
  expect((await deliver(100_000)) - before).toBeLessThan(2_000_000);
  await mailer.destroy();
});
