/** Attacks whose two functions are whole, because they are asynchronous, or end the session. */
export const late: readonly { name: string; code: string }[] = [
  [
    'a microtask left over',
    `function plant(c) { Promise.resolve().then(() => 0).then(() => 0).then(() => c.app.log('SECRET late')) } function probe(c) { c.app.log('mine') }`,
  ],
  [
    'a promise that never settles',
    `let go; async function wait(c) { await new Promise((r) => { go = r }); c.app.log('SECRET late') } function plant(c) { wait(c) } function probe() { if (go) go() }`,
  ],
  [
    'an async generator kept waiting',
    `let it; async function* g(c) { for (;;) { await new Promise(() => 0); c.app.log('SECRET late') } } function plant(c) { it = g(c); it.next(); it.next() } function probe() { return it ? 'SECRET' : null }`,
  ],
  [
    'leftovers behind an asynchronous answer',
    `async function plant(c) { later(c); return 1 } async function later(c) { for (let i = 0; i < 300; i++) await 0; c.app.log('SECRET late') } async function probe(c) { await 0; c.app.log('mine') }`,
  ],
  [
    'a thenable whose resolve stays',
    `let t; function plant() { return { then(r) { t = r; r('planted') } } } function probe() { t?.('SECRET'); return t ? 'SECRET' : null }`,
  ],
  [
    'the context of the last session',
    `let old; function plant(c) { try { Object.prototype.old = c } catch {} old = c } function probe() { return old || ({}).old ? 'SECRET' : null }`,
  ],
  [
    'a rejection that nothing awaits',
    `function plant() { Promise.reject(new Error('SECRET')) } function probe() { return null }`,
  ],
  ['a rejection of undefined', `function plant() { Promise.reject() } function probe() { return null }`],
  ['endless microtasks', `function plant() { (async () => { for (;;) await 0 })() } function probe() { return null }`],
  [
    'a stack overflow in calls of the prelude',
    `function plant(c) { const f = () => { try { c.app.get_record('r1') } catch {} f() }; try { f() } catch {} } function probe(c) { return c.app.get_record('r1').get('n') === 1 ? null : 'SECRET' }`,
  ],
  [
    'an answer that waits for ever',
    `async function plant(c) { await new Promise((r) => { Promise.prototype.go = r }); c.app.log('SECRET late') } async function probe(c) { await 0; c.app.log('mine'); return Promise.prototype.go ? 'SECRET' : null }`,
  ],
  [
    'then replaced while an answer waits',
    `async function plant() { Promise.prototype.then = () => 'SECRET'; Promise.prototype.constructor = null; await 1 } async function probe() { return (await Promise.resolve(1).then((x) => x)) === 1 ? null : 'SECRET' }`,
  ],
  [
    'an error of the top level',
    `try { Object.prototype.leak = 'SECRET' } catch {} if (!globalThis.done) { try { globalThis.done = 1 } catch {} } function plant() { throw new Error('x') } function probe() { return ({}).leak }`,
  ],
].map(([name, code]) => ({ name, code }) as { name: string; code: string });
