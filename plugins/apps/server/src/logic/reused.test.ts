import { afterAll, beforeAll, describe } from 'vitest';
import { setReuse } from './testing/harness';

/**
 * The tests of logic once more, with a context for each program that serves all its sessions: each test twice, so that its second
 * run finds the context of the first, and must get the same answers. Where this engine was not audited, contexts are fresh here too.
 */
describe('in reused contexts', { repeats: 1 }, async () => {
  beforeAll(() => setReuse(0));
  afterAll(() => setReuse(null));
  // The query makes these modules other ones than those that vitest runs by themselves.
  await import('./context.test?reused');
  await import('./context-records.test?reused');
  await import('./globals.test?reused');
  await import('./limits.test?reused');
  await import('./looked.test?reused');
  await import('./modules.test?reused');
  await import('./results.test?reused');
  await import('./session/session.test?reused');
});
