import type { Attack } from './known';

const attack = (name: string, plant: string, probe: string, top = ''): Attack => ({ name, plant, probe, top });

const walk = `const walk = (roots, visit) => { const seen = new Set(); const wait = [...roots]; while (wait.length) { const o = wait.pop(); if ((typeof o !== 'object' && typeof o !== 'function') || !o || seen.has(o)) continue; seen.add(o); visit(o); try { wait.push(Object.getPrototypeOf(o)) } catch {} for (const k of Reflect.ownKeys(o)) { try { const d = Object.getOwnPropertyDescriptor(o, k); wait.push(d.value, d.get, d.set); if (d.get) wait.push(d.get.call(o)) } catch {} } } return seen }`;
const roots =
  '[globalThis, c, c.app, c.record, c.request, c.portal, c.content, c.api, c.mail, c.jobs, c.fetch, c.block]';
const given = (what: string) =>
  `const got = []; const F = ${what}; const undo = []; for (const k of Object.getOwnPropertyNames(F)) { const f = F[k]; if (typeof f !== 'function') continue; try { F[k] = function (...a) { got.push(this, ...a); return Reflect.apply(f, this, a) }; undo.push(() => { F[k] = f }) } catch {} }`;
const using = `try { c.app.log({ a: 1 }); c.app.get_record('r1').set('n', 2); c.app.records(); c.app.search({ query: 'a' }); console.log('%s', {}); c.escape('<'); JSON.stringify(c.request); new URL('http://a/?b=1').searchParams.append('x', 'y'); structuredClone({ a: [1] }); c.content.update({ a: 1 }) } catch {}`;

/** Attacks that were made on the contexts of this version, besides those of `known`. */
export const own: readonly Attack[] = [
  attack(
    'a mark on everything reachable',
    `${walk}; walk(${roots}, (o) => { try { o.leak = 'SECRET' } catch {} })`,
    `${walk}; let r = ''; walk(${roots}, (o) => { try { if (Object.hasOwn(o, 'leak')) r += o.leak } catch {} }); return r`,
  ),
  attack(
    'a symbol on everything reachable',
    `${walk}; const s = Symbol.for('leak'); walk(${roots}, (o) => { try { Object.defineProperty(o, s, { value: 'SECRET' }) } catch {} })`,
    `${walk}; let r = ''; walk(${roots}, (o) => { try { r += o[Symbol.for('leak')] ?? '' } catch {} }); return r`,
  ),
  attack(
    'each assignable value replaced and put back, one kept',
    `${walk}; const all = []; walk(${roots}, (o) => { for (const k of Reflect.ownKeys(o)) { const d = Object.getOwnPropertyDescriptor(o, k); if (d.writable && typeof d.value === 'function') try { o[k] = Object.assign(() => 'SECRET', { was: d.value }); if (k !== 'hasOwnProperty') o[k] = d.value } catch {} } })`,
    `return ({}).hasOwnProperty('x') === 'SECRET' ? 'SECRET' : null`,
  ),
  attack(
    'what replaced methods of Array are given',
    `${given('Array.prototype')}; ${using}; undo.forEach((f) => f()); for (const o of got) try { o.leak = 'SECRET' } catch {}`,
    `${given('Array.prototype')}; ${using}; undo.forEach((f) => f()); return got.map((o) => o?.leak ?? '').join('')`,
  ),
  attack(
    'what replaced methods of Object.prototype are given',
    `${given('Object.prototype')}; ${using}; undo.forEach((f) => f()); for (const o of got) try { o.leak = 'SECRET' } catch {}`,
    `${given('Object.prototype')}; ${using}; undo.forEach((f) => f()); return got.map((o) => o?.leak ?? '').join('')`,
  ),
  attack(
    'what replaced methods of Function.prototype are given',
    `${given('Function.prototype')}; ${using}; undo.forEach((f) => f()); for (const o of got) try { o.leak = 'SECRET' } catch {}`,
    `${given('Function.prototype')}; ${using}; undo.forEach((f) => f()); return got.map((o) => o?.leak ?? '').join('')`,
  ),
  attack(
    'what replaced methods of JSON and Math are given',
    `${given('JSON')}; ${using}; undo.forEach((f) => f()); for (const o of got) try { o.leak = 'SECRET' } catch {}`,
    `${given('JSON')}; ${using}; undo.forEach((f) => f()); return got.map((o) => o?.leak ?? '').join('')`,
  ),
  attack(
    'an array that the prelude holds is filled',
    `const m = Array.prototype.map; Array.prototype.map = function (f) { try { this.push('SECRET') } catch {} return Reflect.apply(m, this, [f]) }; ${using}; Array.prototype.map = m`,
    `c.app.log('x'); return c.app.messages.join() + JSON.stringify(c.app.indexes)`,
  ),
  attack(
    'a table of host functions is changed',
    `const m = Array.prototype.includes; Array.prototype.includes = function (x) { try { this[0] = 'SECRET'; this.length = 0 } catch {} return Reflect.apply(m, this, [x]) }; c.app.get_record('r1'); Array.prototype.includes = m`,
    `let r = ''; const m = Array.prototype.includes; Array.prototype.includes = function (x) { r += this.join(); return Reflect.apply(m, this, [x]) }; c.app.get_record('r1'); Array.prototype.includes = m; return r.includes('SECRET') || r === '' ? 'SECRET' : null`,
  ),
  attack(
    'Array.prototype is sealed, then a value is an accessor',
    `try { Object.defineProperty(Array.prototype, 'push', { get: () => () => 'SECRET' }) } catch {}`,
    `return [].push(1)`,
  ),
  attack(
    'a read-only value of each sealed object',
    `for (const [o, k] of [[Array.prototype, 'map'], [Function.prototype, 'call'], [Error.prototype, 'name'], [Date.prototype, 'toJSON'], [Math, 'max'], [JSON, 'parse'], [console, 'log'], [Promise.prototype, 'then'], [TypeError.prototype, 'message']]) Object.defineProperty(o, k, { writable: false })`,
    `try { const e = new TypeError('a'); e.name = 'b'; [].map = 1; Math.max = Math.max; return null } catch { return 'SECRET' }`,
  ),
  attack(
    'read-only and the same value: only one property of many',
    `Object.defineProperty(Date.prototype, 'getDay', { writable: false })`,
    `try { const d = new Date(); d.getDay = 1; return null } catch { return 'SECRET' }`,
  ),
  attack(
    'a symbol property of a sealed object',
    `Date.prototype[Symbol.toPrimitive] = () => 'SECRET'; Math[Symbol.toStringTag] = 'SECRET'; Promise.prototype[Symbol.toStringTag] = 'SECRET'`,
    `return String(Math) + String(Promise.resolve())`,
  ),
  attack(
    'Array.prototype[Symbol.iterator] =',
    `Array.prototype[Symbol.iterator] = function* () { yield 'SECRET' }`,
    `return [...[1]].join()`,
  ),
  attack(
    'then of Object.prototype',
    `Object.prototype.then = (f) => f('SECRET')`,
    `return c.params.then ? 'SECRET' : null`,
  ),
  attack(
    'toJSON of the kinds',
    `for (const P of [Object.prototype, Array.prototype, String.prototype, Number.prototype, Error.prototype]) try { P.toJSON = () => 'SECRET' } catch {}`,
    `return JSON.stringify([{}, [1], 'a', 1, new Error()])`,
  ),
  attack(
    'Error.prepareStackTrace as an accessor',
    `Object.defineProperty(Error, 'prepareStackTrace', { get: () => () => 'SECRET' })`,
    `return new Error('a').stack`,
  ),
  attack(
    'Error.prepareStackTrace that throws',
    `Error.prepareStackTrace = () => { throw 'SECRET' }; Error.stackTraceLimit = 'SECRET'`,
    `return String(new Error('a').stack) + Error.stackTraceLimit`,
  ),
  attack(
    'prepareStackTrace with a Proxy',
    `Error.prepareStackTrace = new Proxy(() => 1, { apply: () => 'SECRET' })`,
    `return new Error('a').stack`,
  ),
  attack(
    'captureStackTrace on what is shared',
    `for (const o of [Math, JSON, Error, Date, c.escape]) try { Error.captureStackTrace(o); } catch {}`,
    `return [Math, JSON, Error, Date, c.escape].map((o) => Object.hasOwn(o, 'stack') ? 'SECRET' : '').join('')`,
  ),
  attack(
    'cause and own properties of an error of the prelude',
    `try { c.app.get_record(Symbol()) } catch (e) { e.constructor.leak = 'SECRET'; Object.getPrototypeOf(e).leak = 'SECRET' }`,
    `try { c.app.get_record(Symbol()) } catch (e) { return e.leak ?? e.constructor.leak }`,
  ),
  attack(
    'thenable as a result that keeps resolve',
    `return new Proxy({}, { get: (_, k) => k === 'then' ? (f) => { globalThis.f = f; f('x') } : undefined })`,
    `return globalThis.f ? 'SECRET' : null`,
  ),
  attack(
    'promise settled in the next session',
    `keep = new Promise((r) => { go = r }); keep.then(() => c.app.log('SECRET late')); Promise.prototype.keep = go`,
    `Promise.prototype.keep?.(); go?.(); return null`,
    `let keep, go`,
  ),
  attack(
    'async iteration left open',
    `(async () => { for await (const x of (async function* () { for (;;) { await 0; yield new Promise(() => 0) } })()) c.app.log('SECRET late') })()`,
    `c.app.log('mine'); return null`,
  ),
  attack(
    'microtasks that breed until the answer',
    `let n = 0; const f = () => { if (n++ < 2000) Promise.resolve().then(f); else c.app.log('SECRET late') }; f()`,
    `c.app.log('mine'); return null`,
  ),
  attack(
    'Array.fromAsync, Promise.race left open',
    `Promise.race([new Promise(() => 0), new Promise(() => 0)]).then(() => c.app.log('SECRET late')); Array.fromAsync?.([new Promise(() => 0)]).then(() => c.app.log('SECRET late'))`,
    `c.app.log('mine'); return null`,
  ),
  attack(
    'old context by an accessor of a record',
    `Object.defineProperty(c, 'late', { get: () => c }); c.app.leak = c; c.record.leak = 'SECRET'`,
    `return String(c.late ?? c.app.leak ?? '') + (c.record.leak ?? '')`,
  ),
  attack(
    'settings, options, params, query of the last session',
    `c.app.settings.s.t = 'SECRET'; c.app.options.o.push('SECRET'); c.params.p = 'SECRET'; c.request.query.q = 'SECRET'; c.request.headers.accept = 'SECRET'; c.request.body.b = 'SECRET'; c.content.k = 'SECRET'`,
    `return JSON.stringify([c.app.settings, c.app.options, c.params, c.request.query, c.request.headers, c.request.body, c.content])`,
  ),
  attack(
    'acl and user of the last session',
    `c.api.user = 'SECRET'; try { c.app.acl.current_user = () => 'SECRET' } catch {} c.app.acl.roles().push('SECRET')`,
    `return JSON.stringify([c.api.user, c.app.acl.current_user(), c.app.acl.roles()])`,
  ),
  attack(
    'methods of context replaced',
    `for (const o of [c.app, c.app.acl, c.request.response, c.portal, c.mail, c.jobs, c.api.content]) for (const k of Object.keys(o)) try { o[k] = () => 'SECRET' } catch {}`,
    `return String(c.app.get_record('r1').get('n')) + c.portal.absolute_url() + c.app.absolute_url()`,
  ),
  attack(
    'prototype of context',
    `const P = Object.getPrototypeOf(c); Object.defineProperty(P, 'app', { value: 'SECRET' }); P.leak = 'SECRET'`,
    `return String(c.leak ?? c.app)`,
  ),
  attack(
    'response of the last session',
    `c.request.response.status = 299; Object.getPrototypeOf(c.request.response).leak = 'SECRET'`,
    `return (c.request.response.status ?? '') === 299 || c.request.response.leak ? 'SECRET' : null`,
  ),
  attack(
    'log messages of the last session',
    `c.app.log('SECRET'); console.log('SECRET')`,
    `return c.app.messages.join()`,
  ),
  attack(
    'console timers, counters, indentation',
    `console.group('a'); console.group('b'); console.count('SECRET'); console.time('SECRET')`,
    `console.log('x'); console.count('SECRET'.slice(0, 3)); return c.app.messages.join('|').startsWith('x') ? null : 'SECRET'`,
  ),
  attack(
    'random bytes held back',
    `crypto.randomUUID(); Object.getPrototypeOf(Uint8Array).prototype.slice = () => new Uint8Array(16)`,
    `return crypto.randomUUID().startsWith('00000000-0000') ? 'SECRET' : null`,
  ),
  attack(
    'own calls counted for the next session',
    `for (let i = 0; i < 5000; i++) URL.canParse('http://a'); try { URL.canParse('http://b') } catch {}`,
    `return URL.canParse('http://a') ? null : 'SECRET'`,
  ),
  attack(
    'URLSearchParams that believes to belong to an address',
    `try { const f = () => { new URL('http://a/?SECRET=1').searchParams; f() }; f() } catch {}`,
    `return String(new URLSearchParams('a=1'))`,
  ),
  attack(
    'private methods of URL with a foreign this',
    `try { Object.getOwnPropertyDescriptor(URL.prototype, 'hash').set.call(URL.prototype, 'SECRET') } catch {}`,
    `return new URL('http://a').hash`,
  ),
  attack(
    'species, isConcatSpreadable, match and the like',
    `for (const [o, k] of [[Array.prototype, Symbol.isConcatSpreadable], [String.prototype, Symbol.match], [Function.prototype, Symbol.hasInstance], [Object.prototype, Symbol.toPrimitive], [Object.prototype, Symbol.unscopables], [Error.prototype, Symbol.toStringTag]]) try { o[k] = () => 'SECRET' } catch {}`,
    `return String({}) + [1].concat([2]) + String(new Error('a')) + ({} instanceof Function)`,
  ),
  attack(
    'the Date behind the Date',
    `new Date().constructor.leak = 'SECRET'; Reflect.construct(Date, [], Object).leak = 1; Object.getPrototypeOf(Date).leak = 'SECRET'; Date.prototype.constructor = () => 'SECRET'`,
    `return String(new Date().constructor.leak ?? Date.leak ?? (new Date().constructor === Date ? '' : 'SECRET'))`,
  ),
  attack(
    'Date.now and Date.parse',
    `Date.now = () => 5; Date.parse = () => 5; Date.UTC = () => 5`,
    `return Date.now() === 5 || Date.parse('2020') === 5 ? 'SECRET' : null`,
  ),
  attack(
    'class fields and static blocks of the module',
    `K.kept = 'SECRET'; K.#p = 'SECRET'`.replace('K.#p', 'K.q'),
    `return K.kept ?? K.q ?? K.read()`,
    `class K { static #p; static q; static { this.kept = undefined } static read() { return K.#p } }`,
  ),
  attack(
    'a regular expression with a position',
    `re.exec('xSECRET'); re.lastIndex = 3`,
    `return re.lastIndex === 3 ? 'SECRET' : null`,
    `const re = /x/g`,
  ),
  attack(
    'a literal that is made once',
    `lit().push('SECRET'); fn().leak = 'SECRET'`,
    `return lit().join() + (fn().leak ?? '')`,
    `const lit = () => [1, 2]; const fn = () => function () {}`,
  ),
  attack(
    'the factory by its call site',
    `Error.prepareStackTrace = (_, s) => s; for (const s of new Error().stack) { const f = s.getFunction(); if (f) f.leak = 'SECRET'; const t = s.getThis(); if (t) t.leak = 'SECRET' }`,
    `Error.prepareStackTrace = (_, s) => s; return new Error().stack.map((s) => (s.getFunction()?.leak ?? '') + (s.getThis()?.leak ?? '')).join('')`,
  ),
  attack(
    'sloppy code with its caller',
    `Function('f', 'f()')(function g() { try { g.caller.leak = 'SECRET' } catch {} try { g.arguments[0].leak = 'SECRET' } catch {} })`,
    `return Function('return typeof leak')() === 'undefined' ? null : 'SECRET'`,
  ),
  attack(
    'sloppy this',
    `Function('this.leak = "SECRET"; leak2 = "SECRET"')()`,
    `return Function('return this.leak ?? (typeof leak2 === "undefined" ? null : leak2)')()`,
  ),
  attack(
    'with and unscopables',
    `Function('o', 'with (o) { leak = "SECRET" }')(new Proxy({}, { has: () => false }))`,
    `return Function('return typeof leak === "undefined" ? null : leak')()`,
  ),
  attack(
    'a global function of block scope in sloppy eval',
    `(0, eval)('{ function leak() { return "SECRET" } } var l2 = "SECRET"; class L3 {}')`,
    `return (0, eval)('typeof leak + typeof l2 + typeof L3') === 'undefinedundefinedundefined' ? null : 'SECRET'`,
  ),
  attack(
    'Symbol registry as a holder',
    `Symbol.for('SECRET'); try { wm.set(Symbol('a'), 'SECRET') } catch {} Object.defineProperty(Symbol.for('k').constructor, 'leak', { value: 'SECRET' })`,
    `return Symbol.leak`,
    `const wm = new WeakMap()`,
  ),
  attack(
    'Reflect and Object functions that say false',
    `Reflect.set(Array.prototype, 'leak', 'SECRET'); Reflect.defineProperty(Object.prototype, 'leak', { value: 'SECRET' }); Reflect.setPrototypeOf(Object, { leak: 'SECRET' }); Reflect.deleteProperty(Object.prototype, 'toString')`,
    `return [].leak ?? Object.leak ?? ({}.toString ? null : 'SECRET')`,
  ),
  attack(
    'receiver of a setter is shared',
    `class A { set x(v) { Object.defineProperty(this, 'leak', { value: v }) } } try { Reflect.set(A.prototype, 'x', 'SECRET', Math) } catch {}`,
    `return Math.leak`,
  ),
  attack(
    'super in an object literal whose home is changed',
    `const o = { __proto__: Array.prototype, m() { super.leak = 'SECRET' } }; try { o.m.call(Array.prototype) } catch {}`,
    `return [].leak`,
  ),
  attack(
    'getters of prototypes that keep their this',
    `const d = Object.getOwnPropertyDescriptor(Object.prototype, '__proto__'); try { d.set.call(Array.prototype, { leak: 'SECRET' }) } catch {}`,
    `return [].leak`,
  ),
  attack(
    'ArrayBuffer transferred, detached, resized',
    `const b = new Uint8Array(8).buffer; try { b.transfer?.() } catch {} try { ArrayBuffer.prototype.slice = () => 'SECRET' } catch {}`,
    `return String(new ArrayBuffer(8).slice(0).byteLength)`,
  ),
  attack(
    'new memory is empty',
    `for (let i = 0; i < 50; i++) new Uint8Array(1e5).fill(83)`,
    `for (let i = 0; i < 50; i++) if (new Uint8Array(1e5).some((x) => x)) return 'SECRET'; return null`,
  ),
  attack(
    'Intl functions and their defaults',
    `try { Intl.DateTimeFormat.prototype.format = () => 'SECRET'; Intl.Collator = () => 'SECRET' } catch {} try { Object.defineProperty(Intl.NumberFormat.prototype, 'format', { get: () => () => 'SECRET' }) } catch {}`,
    `return new Intl.NumberFormat('en').format(1) + new Intl.DateTimeFormat('en').format(0)`,
  ),
  attack(
    'toLocaleString of the kinds',
    `for (const P of [Object.prototype, Array.prototype, Date.prototype, Number.prototype]) try { P.toLocaleString = () => 'SECRET' } catch {}`,
    `return [1].toLocaleString() + new Date(0).toLocaleString() + (1).toLocaleString()`,
  ),
  attack(
    'an abandoned generator of the prelude',
    `globalThis; const it = new URLSearchParams('SECRET=1').entries(); it.next(); Object.getPrototypeOf(Object.getPrototypeOf(it)).next = () => 'SECRET'`,
    `return [...new URLSearchParams('a=1')].join()`,
  ),
  attack(
    'stack of the host call at its limit',
    `const f = (n) => { try { return f(n + 1) } catch { try { c.app.get_record('r1').set('SECRET', n) } catch {} } }; f(0)`,
    `return JSON.stringify(c.app.get_record('r1').items())`,
  ),
  attack(
    'getter on exports',
    `for (const k of ['plant', 'probe']) try { Object.defineProperty(exports, k, { get: () => () => 'SECRET' }) } catch {} exports.leak = 'SECRET'`,
    `return exports.leak`,
  ),
  attack(
    '__esModule and the prototype of exports',
    `Object.getPrototypeOf(exports).leak = 'SECRET'; Object.setPrototypeOf(exports, { leak: 'SECRET' })`,
    `return exports.leak`,
  ),
  attack(
    'require with a specifier that is a prototype',
    `try { require('__proto__').leak = 'SECRET' } catch {} try { require('constructor') } catch {}`,
    `try { return require('__proto__').leak } catch { return null }`,
  ),
];
