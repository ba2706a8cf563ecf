/** pg-boss, with handlers that do nothing. */
import { createRequire } from 'node:module';
import { packageFolder } from './places.mjs';

/** Stores jobs, a hundred in a statement. */
async function store(boss, queue, jobs) {
  for (let at = 0; at < jobs; at += 100)
    await boss.insert(
      Array.from({ length: Math.min(100, jobs - at) }, (_, n) => ({ name: queue, data: { n: at + n } })),
    );
}

/** Two loops that take one job each, as two workers of the plugin do. */
async function byLoops(boss, queue, jobs) {
  await store(boss, queue, jobs);
  const loop = async () => {
    for (let [job] = await boss.fetch(queue); job; [job] = await boss.fetch(queue)) await boss.complete(queue, job.id);
  };
  await Promise.all([loop(), loop()]);
}

/** Two of its own workers, whose handlers get a hundred jobs at once. */
async function byWorkers(boss, queue, jobs) {
  await store(boss, queue, jobs);
  let done = 0;
  await new Promise((resolve) => {
    const take = async (batch) => {
      done += batch.length;
      if (done === jobs) resolve();
    };
    for (const _ of [1, 2]) boss.work(queue, { batchSize: 100, pollingIntervalSeconds: 0.5 }, take);
  });
  await boss.offWork(queue);
}

/**
 * Starts pg-boss on the database of a host's environment.
 * @returns `ways` to store and do that many jobs, and `stop`. @throws when it is not installed
 */
export async function startBoss(env, jobs) {
  const Boss = createRequire(import.meta.url)(packageFolder('boss', 'pg-boss'));
  const boss = new Boss({
    host: env.DATABASE_HOST,
    port: Number(env.DATABASE_PORT),
    user: env.DATABASE_USERNAME,
    password: env.DATABASE_PASSWORD,
    database: env.DATABASE_NAME,
  });
  await boss.start();
  const timed = (name, work) => async (at) => {
    const queue = `${name}-${at}`;
    await boss.createQueue(queue);
    const began = performance.now();
    await work(boss, queue, jobs);
    return (performance.now() - began) / 1_000;
  };
  return {
    ways: [
      {
        title: 'pg-boss: two loops that fetch and complete one job',
        work: timed('loop', byLoops),
        peer: 'equal concurrency, two jobs at once',
        reason: 'each job is a call in the sandbox with the rights of its requester, and a run that people can see',
      },
      {
        title: 'pg-boss: two workers, batches of 100, every 0.5 s',
        work: timed('work', byWorkers),
        peer: 'two hundred jobs at once beside two',
        reason:
          'its handler is called once for a hundred jobs that succeed or fail together; here each is a call in the sandbox of its own',
      },
    ],
    stop: () => boss.stop({ graceful: false }),
  };
}
