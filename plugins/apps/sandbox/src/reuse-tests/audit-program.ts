/**
 * A program that walks over all that it can reach: global objects, what syntax makes, the whole of `context`, what getters and calls give,
 * and every `this` and argument that the built-ins which it can replace are given meanwhile. Its second session compares with the first,
 * by a map outside of the module that only this test has.
 */
export const walker = `
__offer('walk', () => walk);
const { apply, ownKeys, construct } = Reflect;
const { getPrototypeOf, getOwnPropertyDescriptor, isFrozen, isExtensible } = Object;
const isObject = (o) => (typeof o === 'object' || typeof o === 'function') && o !== null && o !== shared;
const attempt = (f) => { try { return f() } catch {} };

const instances = (c) => ({
  gen: (function* () {})(), agen: (async function* () {})(), af: async () => {}, gf: function* () {}, agf: async function* () {},
  ai: [][Symbol.iterator](), si: ''[Symbol.iterator](), mi: new Map().keys(), se: new Set().keys(), ri: 'a'.matchAll(/a/g),
  args: (function () { return arguments })(), date: new Date(), re: /a/g.exec('a'), err: new Error('x'), sub: new (class extends TypeError {})(),
  url: new URL('http://a/?b=1'), td: new TextDecoder(), te: new TextEncoder(), buf: new Uint8Array(2).buffer, tpl: ((s) => s)\`t\`,
  usp: new URLSearchParams('a=1').entries(), params: new URL('http://a/?b=1').searchParams,
  seg: attempt(() => new Intl.Segmenter('en').segment('a')), segi: attempt(() => new Intl.Segmenter('en').segment('a')[Symbol.iterator]()),
  nf: new Intl.NumberFormat('en'), nff: new Intl.NumberFormat('en').format, dtf: new Intl.DateTimeFormat('en'), dff: new Intl.DateTimeFormat('en').format,
  col: new Intl.Collator('en').compare, loc: attempt(() => new Intl.Locale('en')), ih: attempt(() => [].values().map((x) => x)),
  iw: attempt(() => Iterator.from({ next() {} })), ic: attempt(() => Iterator.concat([])), iz: attempt(() => Iterator.zip([[]])),
  p: Promise.resolve(), wr: attempt(() => { const w = Promise.withResolvers(); w.promise.catch(() => 0); return w }), fa: attempt(() => Array.fromAsync([])), px: Proxy.revocable({}, {}),
  cap: (() => { const o = {}; Error.captureStackTrace(o); return o })(), now: attempt(() => Temporal.Now), ds: attempt(() => new DisposableStack()),
  ads: attempt(() => new AsyncDisposableStack()), in: attempt(() => Temporal.Now.instant()), pri: (class { static #p = {}; static get p() { return this.#p } }),
  cs: (() => { const before = Error.prepareStackTrace; Error.prepareStackTrace = (_, s) => s; const s = new Error().stack; Error.prepareStackTrace = before; return s })(),
  deep: (() => { const before = Error.prepareStackTrace; let s; Error.prepareStackTrace = (_, f) => f; c.app.log({ toJSON() { s = new Error().stack; return 1 } }); Error.prepareStackTrace = before; return s })(),
  thrown: attempt(() => { try { null.x } catch (e) { return e } }), range: attempt(() => { const f = () => f(); try { f() } catch (e) { return e } }),
  host: attempt(() => { try { c.app.get_record(Symbol()) } catch (e) { return e } }),
});

/** Uses the whole of context, and of the globals that the prelude makes. */
function exercise(c) {
  const t = attempt;
  const { app, request, content, api } = c;
  t(() => app.get_record('r1').set('n', 5)); t(() => app.get_record('r1').set({ a: [1] })); t(() => app.create_record('r2').save({ x: 1 }));
  t(() => app.records()); t(() => app.records({ limit: 1 })); t(() => app.search({ query: 'a' })); t(() => app.search('a', 'b', true));
  t(() => app.log({ a: 1 }, new Error('x'), 'y')); t(() => app.messages.join()); t(() => app.delete_record('r1'));
  for (const k of Object.keys(console)) { t(() => console[k]('%s %d %i %o', {}, '1', 2, [])); t(() => console[k]('a')); t(() => console[k]()) }
  t(() => { const u = new URL('http://a/?b=1'); u.searchParams.append('x', 'y'); u.hash = 'z'; for (const k of Object.getOwnPropertyNames(URL.prototype)) t(() => u[k]); t(() => JSON.stringify(u)) });
  t(() => URL.canParse('x')); t(() => URL.parse('http://a'));
  t(() => { const p = new URLSearchParams([['a', '1'], ['b', '%C3%A4']]); p.set('a', 'ü'); p.delete('b'); p.sort(); p.forEach(() => 1); t(() => [...p.keys(), ...p.values(), ...p]); t(() => String(p)); new URLSearchParams({ a: 1 }); new URLSearchParams('?a=%zz') });
  t(() => structuredClone({ a: [1, new Date(), new Map([[1, 2]]), new Set([1]), new Error('x', { cause: 1 }), /x/g, new Uint8Array(2), Object(1)] }));
  t(() => structuredClone(() => 1)); t(() => crypto.randomUUID()); t(() => crypto.getRandomValues(new Uint8Array(3)));
  t(() => btoa('a') + atob('YQ==')); t(() => btoa('\\u1234')); t(() => new TextDecoder().decode(new TextEncoder().encode('ä€😀'), { stream: true }));
  t(() => new TextDecoder('utf8', { fatal: true }).decode(new Uint8Array([255]))); t(() => new TextEncoder().encodeInto('äb', new Uint8Array(2)));
  t(() => c.escape('<"&>')); t(() => [request.get('q'), request.has('x'), request.URL]); for (const k of ['query', 'form', 'headers', 'body']) t(() => JSON.stringify(request[k]));
  t(() => { request.response.status = 201; request.response.set_header('a', 'b'); request.response.setStatus(1); request.response.redirect('/') });
  t(() => c.portal.get('/')); t(() => c.portal.day_begin({ day: new Date(), days: 1 })); t(() => c.portal.absolute_url()); t(() => c.now);
  t(() => content.update({ a: 1 })); t(() => { content.k = { a: 1 } }); t(() => content.getURL()); t(() => content.getObject());
  for (const k of Object.keys(api.documents('api::x.y'))) t(() => api.documents('api::x.y')[k]({ filters: {} }));
  t(() => api.content.find({ type: 'a', sort_on: 'b' })[0].title); t(() => api.content.create({ type: 'a', id: 'x' })); t(() => api.content.get('/')); t(() => api.content.transition(api.content.get('/'), 'publish'));
  t(() => api.portal.get()); t(() => api.user.getUserName()); t(() => { api.user = 1 });
  t(() => c.mail.send({ to: 'a', subject: 's' })); t(() => c.fetch('http://a', { body: { a: 1 } }).json); t(() => c.jobs.add('b', {}, {})); t(() => c.jobs.fetch('http://a'));
  t(() => c.get_app('other').records()); for (const k of Object.keys(app.acl)) t(() => app.acl[k]({ role_id: 'r' })); t(() => app.blocks[0].display({ record: 'r1' })); t(() => c.block.elements); t(() => app.get_block('f'));
  t(() => c.invalid('a', 'b')); t(() => c.flash('a')); t(() => { c.mine = { a: 1 } });
  for (const k of Object.keys(app)) { t(() => app[k]('r1')); t(() => app[k]({ id: 'r1' })) }
  const r = app.get_record('r1');
  for (const k of Object.getOwnPropertyNames(getPrototypeOf(r))) if (k !== 'constructor') { t(() => r[k]('r1')); t(() => r[k]({ n: 2 })) }
  t(() => JSON.stringify(r)); t(() => Object.keys(r)); t(() => ({ ...r })); t(() => { r.o = { a: [1] }; delete r.n; 'n' in r }); t(() => { r.items = 1 }); t(() => r.inc('n', NaN));
  t(() => { r.bad = { x: 1n } }); t(() => Object.defineProperty(r, 'z', { value: 1 })); t(() => Math.random()); t(() => [new Date(), Date(), Date.now()]);
  t(() => new Intl.DateTimeFormat('en').format()); t(() => new Intl.DateTimeFormat('en').formatToParts());
}

function walk(c) {
  const seen = new Map();
  const queue = [];
  const captured = [];
  const visit = (o, path) => { if (!isObject(o) || seen.has(o)) return; seen.set(o, path); queue.push(o) };
  const visitAll = (roots) => {
    const found = new Set();
    const waiting = [];
    const add = (o) => { if (isObject(o) && !found.has(o)) { found.add(o); waiting.push(o) } };
    roots.forEach(add);
    for (let o = waiting.pop(); o; o = waiting.pop()) {
      attempt(() => add(getPrototypeOf(o)));
      for (const k of attempt(() => ownKeys(o)) ?? []) { const d = attempt(() => getOwnPropertyDescriptor(o, k)); if (d) { add(d.value); add(d.get); add(d.set) } }
    }
    return found;
  };
  const made = instances(c);
  visit(globalThis, 'globalThis'); visit(c, 'context'); visit(exports, 'exports'); visit(require, 'require'); visit(__offer, '__offer'); visit(this, 'this');
  for (const k of ['app', 'block', 'record', 'request', 'parent_request', 'portal', 'content', 'api', 'visitor', 'mail', 'fetch', 'jobs', 'get_app', 'invalid', 'flash', 'params', 'escape']) visit(attempt(() => c[k]), 'context.' + k);
  visit(attempt(() => c.app.get_record('r1')), 'record'); visit(attempt(() => c.app.records()), 'records'); visit(attempt(() => c.get_app('other')), 'other'); visit(attempt(() => c.api.user), 'user');
  for (const [name, o] of Object.entries(made)) visit(o, name);

  // Every built-in that can be replaced tells what it is given.
  const undo = [];
  let on = true;
  let patched = 0;
  const got = (x) => { if (isObject(x)) captured.push(x) };
  for (const o of visitAll([globalThis, ...Object.values(made)])) {
    if (seen.has(o) && !('isFrozen' in o) && o === c) continue;
    for (const k of attempt(() => ownKeys(o)) ?? []) {
      const d = attempt(() => getOwnPropertyDescriptor(o, k));
      if (!d || !('value' in d) || !d.writable || typeof d.value !== 'function') continue;
      const f = d.value;
      const w = function (...args) {
        if (on) { on = false; try { got(this); args.forEach(got) } finally { on = true } }
        const r = new.target ? construct(f, args, new.target === w ? f : new.target) : apply(f, this, args);
        if (on) { on = false; try { got(r) } finally { on = true } }
        return r;
      };
      attempt(() => { o[k] = w; if (o[k] === w) { patched++; undo.push(() => { o[k] = f }) } });
    }
  }
  try { exercise(c) } catch (e) { captured.push({ e: String(e) }) }
  on = false;
  for (const u of undo.reverse()) u();
  exercise(c);
  captured.forEach((x, i) => visit(x, 'captured' + i));

  let calls = 0;
  for (let o = queue.pop(); o; o = queue.pop()) {
    const path = seen.get(o);
    if (path.length > 120) continue;
    attempt(() => visit(getPrototypeOf(o), path + '.__proto__'));
    for (const k of attempt(() => ownKeys(o)) ?? []) {
      const d = attempt(() => getOwnPropertyDescriptor(o, k));
      if (!d) continue;
      const p = path + '.' + String(k);
      visit(d.value, p); visit(d.get, p + '<get>'); visit(d.set, p + '<set>');
      if (d.get) { attempt(() => visit(d.get.call(o), p + '()')); attempt(() => visit(d.get.call(c), p + '(c)')) }
    }
    if (typeof o === 'function' && o !== walk && o !== exercise && calls < 6000 && !path.includes('walk')) {
      calls++;
      attempt(() => { const r = o(); if (r instanceof Promise) r.catch(() => 0); visit(r, path + '()') });
      attempt(() => { const r = new o(); if (r instanceof Promise) r.catch(() => 0); visit(r, 'new ' + path) });
    }
  }

  const isFirst = shared.size === 0;
  const both = [];
  for (const [o, path] of seen) if (shared.has(o)) both.push([o, path]);
  let [frozen, sealed] = [0, 0];
  const loose = [];
  for (const [o, path] of both) {
    if (isFrozen(o)) frozen++;
    else if (!isExtensible(o) && ownKeys(o).every((k) => !getOwnPropertyDescriptor(o, k).configurable)) sealed++;
    else loose.push(path + ' ' + ownKeys(o).map(String).slice(0, 8).join('|') + ' ' + (typeof o === 'function' ? Function.prototype.toString.call(o).slice(0, 90) : ''));
  }
  if (isFirst) for (const [o, p] of seen) shared.set(o, p);
  return { patched, captured: captured.length, reachable: seen.size, both: both.length, frozen, sealed, loose };
}
`;
