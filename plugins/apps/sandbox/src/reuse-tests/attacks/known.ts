/**
 * Attacks of the first session of a context on the second: what it leaves, and how the second would notice. The texts are code of
 * modules. `SECRET` in what the second gives is a leak.
 */
export interface Attack {
  name: string;
  /** Code that leaves something, with the session's context `c`. */
  plant: string;
  /** Code that returns what it finds of it. */
  probe: string;
  /** Code of the module before both. */
  top?: string;
}

const attack = (name: string, plant: string, probe: string, top = ''): Attack => ({ name, plant, probe, top });

/** Attacks that were made on the first hardened context. */
export const known: readonly Attack[] = [
  attack('module-level let', `store='SECRET'`, `return store`, `let store`),
  attack('module-level Map', `m.set(1,'SECRET')`, `return m.get(1)`, `const m=new Map()`),
  attack('globalThis.x', `globalThis.leak='SECRET'`, `return globalThis.leak`),
  attack(
    'implicit global by Function',
    `Function('leak="SECRET"')()`,
    `return Function('return typeof leak==="undefined"?null:leak')()`,
  ),
  attack(
    'indirect eval var',
    `(0,eval)('var leak="SECRET"')`,
    `return (0,eval)('typeof leak==="undefined"?null:leak')`,
  ),
  attack(
    'indirect eval function',
    `(0,eval)('function leak(){return "SECRET"}')`,
    `return (0,eval)('typeof leak==="undefined"?null:leak()')`,
  ),
  attack(
    'indirect eval let',
    `(0,eval)('let leak="SECRET"')`,
    `return (0,eval)('typeof leak==="undefined"?null:leak')`,
  ),
  attack('Object.prototype.x', `Object.prototype.leak='SECRET'`, `return ({}).leak`),
  attack('__proto__ from input', `const o={}; o['__proto__']['leak']='SECRET'`, `return ({}).leak`),
  attack(
    'constructor.prototype from input',
    `const o={}; o['constructor']['prototype']['leak']='SECRET'`,
    `return ({}).leak`,
  ),
  attack(
    'Object.prototype accessor',
    `Object.defineProperty(Object.prototype,'leak',{get(){return 'SECRET'},configurable:true})`,
    `return ({}).leak`,
  ),
  attack('__defineGetter__ on prototype', `Array.prototype.__defineGetter__('leak',()=>'SECRET')`, `return [].leak`),
  attack('Object.prototype.toString = (soft)', `Object.prototype.toString=()=>'SECRET'`, `return String({})`),
  attack(
    'toString as getter that answers once',
    `let n=0; const t=Object.prototype.toString; Object.defineProperty(Object.prototype,'toString',{get(){return n++?()=>'SECRET':t}})`,
    `return String({})`,
  ),
  attack(
    'Array.prototype.map =',
    `const m=Array.prototype.map; Array.prototype.map=function(f){ const r=m.call(this,f); r.push('SECRET'); return r }`,
    `return [1].map(x=>x).join()`,
  ),
  attack('Array.prototype[0] =', `Array.prototype[3]='SECRET'`, `return [,,,,][3]`),
  attack('Array.prototype.length =', `Array.prototype.length=7`, `return Array.prototype.length===7?'SECRET':null`),
  attack(
    'Function.prototype.call = (soft)',
    `const k=Function.prototype.call; Function.prototype.call=function(){ return 'SECRET' }`,
    `return (function(){return 1}).call()==='SECRET'?'SECRET':null`,
  ),
  attack('Function.prototype.x', `Function.prototype.leak='SECRET'`, `return (()=>{}).leak`),
  attack('Error.prototype.name = (soft)', `Error.prototype.name='SECRET'`, `return new Error('x').name`),
  attack('TypeError.prototype.message =', `TypeError.prototype.message='SECRET'`, `return new TypeError().message`),
  attack('Error.stackTraceLimit', `Error.stackTraceLimit=77`, `return Error.stackTraceLimit===77?'SECRET':null`),
  attack('Error.prepareStackTrace', `Error.prepareStackTrace=()=>'SECRET'`, `return new Error('a').stack`),
  attack(
    'Error.captureStackTrace =',
    `Error.captureStackTrace=(o)=>{o.stack='SECRET'}`,
    `const o={}; Error.captureStackTrace(o); return o.stack`,
  ),
  attack('Error.x', `Error.leak='SECRET'`, `return Error.leak`),
  attack(
    'RegExp statics',
    `/SECR../.exec('xSECRETx')`,
    `return String(RegExp.lastMatch)+RegExp.$_+RegExp['$&']+RegExp.input`,
  ),
  attack(
    'RegExp statics by replace',
    `'xSECRETx'.replace(/(SECRET)/,'')`,
    `return String(RegExp.$1)+RegExp.leftContext`,
  ),
  attack('RegExp.input =', `RegExp.input='SECRET'`, `return RegExp.input`),
  attack('RegExp.prototype.exec =', `RegExp.prototype.exec=()=>['SECRET']`, `return 'a'.match(/a/)[0]`),
  attack(
    'Symbol.for as a holder',
    `Symbol.for('k').description; Object(Symbol.for('k')).leak='SECRET'; Symbol.leak='SECRET'`,
    `return Object(Symbol.for('k')).leak ?? Symbol.leak`,
  ),
  attack(
    'generator prototype',
    `const P=Object.getPrototypeOf(function*(){}).prototype; const n=P.next; P.next=()=>({done:true,value:'SECRET'})`,
    `return (function*(){yield 1})().next().value`,
  ),
  attack(
    'generator function prototype',
    `Object.getPrototypeOf(function*(){}).leak='SECRET'`,
    `return (function*(){}).leak`,
  ),
  attack('async function prototype', `Object.getPrototypeOf(async()=>{}).leak='SECRET'`, `return (async()=>{}).leak`),
  attack(
    'async generator prototype',
    `Object.getPrototypeOf(Object.getPrototypeOf((async function*(){})())).leak='SECRET'`,
    `return (async function*(){})().leak`,
  ),
  attack(
    'async iterator prototype',
    `Object.getPrototypeOf(Object.getPrototypeOf(Object.getPrototypeOf((async function*(){})()))).leak='SECRET'`,
    `return (async function*(){})().leak`,
  ),
  attack(
    'AsyncFunction constructor',
    `(async()=>{}).constructor.leak='SECRET'`,
    `return (async()=>{}).constructor.leak`,
  ),
  attack(
    'array iterator prototype',
    `const P=Object.getPrototypeOf([][Symbol.iterator]()); P.next=()=>({done:true}); P.leak='SECRET'`,
    `return [][Symbol.iterator]().leak ?? ([...[1]].length===0?'SECRET':null)`,
  ),
  attack(
    'iterator prototype',
    `Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())).leak='SECRET'`,
    `return new Map()[Symbol.iterator]().leak`,
  ),
  attack(
    'string, map, set, regexp iterators',
    `for (const it of [''[Symbol.iterator](),new Map().keys(),new Set().keys(),'a'.matchAll(/a/g)]) try { Object.getPrototypeOf(it).leak='SECRET' } catch {}`,
    `return [''[Symbol.iterator](),new Map().keys(),new Set().keys(),'a'.matchAll(/a/g)].map(i=>i.leak).join('')`,
  ),
  attack(
    '%TypedArray%',
    `Object.getPrototypeOf(Int8Array).leak='SECRET'; `,
    `return Object.getPrototypeOf(Int8Array).leak`,
  ),
  attack(
    '%TypedArray%.prototype',
    `Object.getPrototypeOf(Int8Array).prototype.leak='SECRET'; `,
    `return new Int8Array(1).leak`,
  ),
  attack(
    'ArrayBuffer (replaced by the prelude)',
    `ArrayBuffer.leak='SECRET'; ArrayBuffer.prototype.leak='SECRET'`,
    `return ArrayBuffer.leak ?? new ArrayBuffer(1).leak`,
  ),
  attack(
    'native ArrayBuffer behind it',
    `const N=Object.getPrototypeOf(Int8Array).prototype; const n=new Int8Array(1).buffer.constructor; n.leak='SECRET'`,
    `return new Int8Array(1).buffer.constructor.leak`,
  ),
  attack('Intl', `Intl.leak='SECRET'`, `return Intl.leak`),
  attack(
    'Intl.*.prototype',
    `for (const k of Object.getOwnPropertyNames(Intl)) try { Intl[k].prototype.leak='SECRET' } catch {}`,
    `return Object.getOwnPropertyNames(Intl).map(k=>Intl[k]?.prototype?.leak??'').join('')`,
  ),
  attack(
    'Intl segments',
    `Object.getPrototypeOf(new Intl.Segmenter('en').segment('a')).leak='SECRET'`,
    `return new Intl.Segmenter('en').segment('a').leak`,
  ),
  attack(
    'Intl segment iterator',
    `Object.getPrototypeOf(new Intl.Segmenter('en').segment('a')[Symbol.iterator]()).leak='SECRET'`,
    `return new Intl.Segmenter('en').segment('a')[Symbol.iterator]().leak`,
  ),
  attack(
    'bound format function of Intl',
    `const f=new Intl.NumberFormat('en').format; f.leak='SECRET'`,
    `return new Intl.NumberFormat('en').format.leak`,
  ),
  attack('Date.now =', `Date.now=()=>'SECRET'`, `return String(Date.now())`),
  attack('Date.prototype.x', `Date.prototype.leak='SECRET'`, `return new Date().leak`),
  attack('Math.random = ', `Math.random=()=>'SECRET'`, `return String(Math.random())`),
  attack(
    'Math.x, JSON.x, Reflect.x',
    `for (const o of [Math,JSON,Reflect]) try { o.leak='SECRET' } catch {}`,
    `return [Math,JSON,Reflect].map(o=>o.leak).join('')`,
  ),
  attack('JSON.parse =', `JSON.parse=()=>'SECRET'`, `return JSON.parse('1')`),
  attack(
    'Promise.prototype.then = (soft)',
    `Promise.prototype.then=()=>'SECRET'`,
    `return Promise.resolve(1).then(()=>1)==='SECRET'?'SECRET':null`,
  ),
  attack('Promise.resolve =, Promise.x', `Promise.leak='SECRET'`, `return Promise.leak`),
  attack(
    'Symbol.species of Array',
    `Object.defineProperty(Array,Symbol.species,{get(){return function(){return {leak:'SECRET'}}}})`,
    `return [1].map(x=>x).leak`,
  ),
  attack(
    'constructor of Array.prototype (soft)',
    `Array.prototype.constructor={[Symbol.species]:function(){return {leak:'SECRET'}}}`,
    `return [1].map(x=>x).leak`,
  ),
  attack(
    'Symbol.hasInstance, unscopables',
    `Array.prototype[Symbol.unscopables].leak='SECRET'`,
    `return Array.prototype[Symbol.unscopables].leak`,
  ),
  attack('property of an intrinsic method', `Array.prototype.map.leak='SECRET'`, `return Array.prototype.map.leak`),
  attack(
    'property of a getter function',
    `Object.getOwnPropertyDescriptor(RegExp.prototype,'flags').get.leak='SECRET'`,
    `return Object.getOwnPropertyDescriptor(RegExp.prototype,'flags').get.leak`,
  ),
  attack(
    'getter of __proto__',
    `Object.getOwnPropertyDescriptor(Object.prototype,'__proto__').set.leak='SECRET'`,
    `return Object.getOwnPropertyDescriptor(Object.prototype,'__proto__').set.leak`,
  ),
  attack(
    '%ThrowTypeError%',
    `Object.getOwnPropertyDescriptor((function(){return arguments})(),'callee').get.leak='SECRET'`,
    `return Object.getOwnPropertyDescriptor((function(){return arguments})(),'callee').get.leak`,
  ),
  attack(
    'name of an intrinsic',
    `Object.defineProperty(Array.prototype.map,'name',{value:'SECRET'})`,
    `return Array.prototype.map.name`,
  ),
  attack('prototype of globalThis', `Object.setPrototypeOf(globalThis,{leak:'SECRET'})`, `return globalThis.leak`),
  attack(
    'prototype of prototypes',
    `for (const P of [Array.prototype,Error.prototype,Map.prototype,Object.getPrototypeOf(globalThis)]) try { Object.setPrototypeOf(P,{leak:'SECRET',__proto__:Object.getPrototypeOf(P)}) } catch {}`,
    `return [].leak ?? new Error().leak ?? new Map().leak ?? globalThis.leak`,
  ),
  attack(
    'a Proxy as a prototype',
    `Object.setPrototypeOf(Array.prototype,new Proxy(Object.prototype,{get(t,k){return k==='leak'?'SECRET':t[k]}}))`,
    `return [].leak`,
  ),
  attack(
    'template object as key of a WeakMap',
    `wm.set(tag\`x\`,'SECRET')`,
    `return wm.get(tag\`x\`)`,
    `const wm=new WeakMap(); const tag=(s)=>s`,
  ),
  attack(
    'property of a template object',
    `(tag\`y\`).leak='SECRET'; (tag\`y\`).raw.leak='SECRET'`,
    `return (tag\`y\`).leak`,
    `const tag=(s)=>s`,
  ),
  attack(
    'template object of one site in both sessions',
    `stamp(site())`,
    `return read(site())`,
    `const tag=(s)=>s; const site=()=>tag\`z\`; class Ret { constructor(o){return o} } class St extends Ret { #v; constructor(o,v){super(o);this.#v=v} static get(o){return #v in o ? o.#v : null} } const stamp=(o)=>new St(o,'SECRET'); const read=(o)=>St.get(o)`,
  ),
  attack(
    'private field stamped on an intrinsic',
    `new St(Array.prototype,'SECRET'); new St(globalThis,'SECRET')`,
    `return St.get(Array.prototype) ?? St.get(globalThis)`,
    `class Ret { constructor(o){return o} } class St extends Ret { #v; constructor(o,v){super(o);this.#v=v} static get(o){return #v in o ? o.#v : null} }`,
  ),
  attack(
    'arguments.callee.caller',
    `Function('let f=arguments.callee.caller; for(let i=0;f&&i<9;i++){ f.leak="SECRET"; f=f.caller }')()`,
    `return Function('let f=arguments.callee.caller, r=null; for(let i=0;f&&i<9;i++){ r=r||f.leak; f=f.caller } return r')()`,
  ),
  attack(
    'function.caller of sloppy callbacks',
    `const f=Function('return arguments.callee.caller'); const g=[1].map(f)[0]; if (g) g.leak='SECRET'; else return 'refused: null'`,
    `const g=[1].map(Function('return arguments.callee.caller'))[0]; return g&&g.leak`,
  ),
  attack(
    'CallSite.getFunction, getThis',
    `Error.prepareStackTrace=(_,s)=>s; for (const s of new Error().stack) for (const o of [s.getFunction(),s.getThis(),s.constructor,Object.getPrototypeOf(s)]) try { if (o) o.leak='SECRET' } catch {}`,
    `Error.prepareStackTrace=(_,s)=>s; let r=''; for (const s of new Error().stack) r+=[s.getFunction(),s.getThis(),s.constructor,Object.getPrototypeOf(s)].map(o=>o?.leak??'').join(''); return r`,
  ),
  attack(
    'CallSites inside a call of the prelude',
    `let found; Error.prepareStackTrace=(_,s)=>s; c.app.log({ toJSON(){ found=new Error().stack; return 1 } }); for (const s of found) for (const o of [s.getFunction(),s.getThis()]) try { if (o) o.leak='SECRET' } catch {}`,
    `let found; Error.prepareStackTrace=(_,s)=>s; c.app.log({ toJSON(){ found=new Error().stack; return 1 } }); return found.map(s=>[s.getFunction(),s.getThis()].map(o=>o?.leak??'').join('')).join('')`,
  ),
  attack('a shared function of context', `c.escape.leak='SECRET'`, `return c.escape.leak`),
  attack(
    'all functions of context, their prototypes',
    `const seen=new Set(); const walk=(o)=>{ if ((typeof o!=='object'&&typeof o!=='function')||!o||seen.has(o)) return; seen.add(o); try { o.leak='SECRET' } catch {} walk(Object.getPrototypeOf(o)); for (const k of Reflect.ownKeys(o)) { const d=Object.getOwnPropertyDescriptor(o,k); walk(d.value); walk(d.get); walk(d.set); if (d.get) try { walk(d.get.call(c)) } catch {} } }; walk(c); walk(c.app); walk(c.request); walk(c.portal); walk(c.content); walk(c.api); walk(c.mail)`,
    `let found=''; const seen=new Set(); const walk=(o)=>{ if ((typeof o!=='object'&&typeof o!=='function')||!o||seen.has(o)) return; seen.add(o); if (Object.hasOwn(o,'leak')) found+=o.leak; walk(Object.getPrototypeOf(o)); for (const k of Reflect.ownKeys(o)) { const d=Object.getOwnPropertyDescriptor(o,k); walk(d.value); walk(d.get); walk(d.set); if (d.get) try { walk(d.get.call(c)) } catch {} } }; walk(c); walk(c.app); walk(c.request); walk(c.portal); walk(c.content); walk(c.api); walk(c.mail); return found`,
  ),
  attack(
    'class of records',
    `const r=c.app.get_record('r1'); const P=Object.getPrototypeOf(r); try { P.leak='SECRET' } catch {} P.constructor.leak='SECRET'`,
    `const r=c.app.get_record('r1'); const P=Object.getPrototypeOf(r); return P.leak ?? P.constructor.leak`,
  ),
  attack(
    'method of records replaced',
    `Object.getPrototypeOf(c.app.get_record('r1')).get=()=>'SECRET'`,
    `return c.app.get_record('r1').get('n')`,
  ),
  attack(
    'items of a record of the last session',
    `const r=c.app.get_record('r1'); r.set('n','SECRET')`,
    `return c.app.get_record('r1').get('n')`,
  ),
  attack(
    'this of the module',
    `if (self) self.leak='SECRET'; else return 'refused: undefined'`,
    `return self&&self.leak`,
    `const self=this`,
  ),
  attack(
    'exports, require, __offer, __define',
    `for (const o of [exports,require,__offer,__define]) try { o.leak='SECRET' } catch {}`,
    `return [exports,require,__offer,__define].map(o=>o.leak).join('')`,
  ),
  attack(
    '__define of another module',
    `__define('blocks/f.js',{},function(e,r,o){ o('probe',()=>()=>'SECRET'); o('plant',()=>()=>1) })`,
    `return null`,
  ),
  attack(
    'console.x, URL.x, crypto.x …',
    `for (const o of [console,console.log,URL,URL.prototype,URLSearchParams.prototype,TextEncoder.prototype,crypto,crypto.randomUUID,atob,structuredClone]) try { o.leak='SECRET' } catch {}`,
    `return [console,console.log,URL,URL.prototype,URLSearchParams.prototype,TextEncoder.prototype,crypto,crypto.randomUUID,atob,structuredClone].map(o=>o.leak).join('')`,
  ),
  attack('console.log =', `console.log=()=>'SECRET'`, `return console.log('a')`),
  attack('console.count, group', `console.count('k'); console.group('SECRET')`, `console.count('k'); return null`),
  attack(
    'URLSearchParams iterator',
    `Object.getPrototypeOf(new URLSearchParams('a=1').entries()).leak='SECRET'; Object.getPrototypeOf(Object.getPrototypeOf(new URLSearchParams('a=1').entries())).leak='SECRET'`,
    `return new URLSearchParams('a=1').entries().leak`,
  ),
  attack(
    'SharedArrayBuffer, Atomics, WeakRef … reachable',
    `1`,
    `return [typeof SharedArrayBuffer,typeof Atomics,typeof WeakRef,typeof FinalizationRegistry,typeof WebAssembly].every(t=>t==='undefined')?null:'SECRET'`,
  ),
  attack(
    'buffer kept by a typed array prototype',
    `Int8Array.prototype.leak=new Int8Array([1])`,
    `return Int8Array.prototype.leak?'SECRET':null`,
  ),
  attack('Proxy.revocable, Proxy.x', `Proxy.leak='SECRET'`, `return Proxy.leak`),
  attack(
    'Object.defineProperties on Object',
    `Object.leak='SECRET'; Object.keys=()=>['SECRET']`,
    `return Object.leak ?? Object.keys({}).join()`,
  ),
  attack('String.prototype method =', `String.prototype.trim=()=>'SECRET'`, `return ' a'.trim()`),
  attack(
    'wrapper prototypes',
    `for (const P of [String,Number,Boolean,Symbol,BigInt]) try { P.prototype.leak='SECRET' } catch {}`,
    `return ('a').leak ?? (1).leak ?? true.leak ?? Symbol().leak ?? (1n).leak`,
  ),
  attack(
    'WeakMap, WeakSet, Map, Set prototypes',
    `for (const P of [WeakMap,WeakSet,Map,Set,DataView]) try { P.prototype.leak='SECRET' } catch {}`,
    `return new WeakMap().leak ?? new Map().leak ?? new Set().leak`,
  ),
  attack('import()', `import('x').catch(()=>0)`, `return null`),
  attack(
    'one soft property made read-only',
    `Object.defineProperty(Object.prototype,'toString',{writable:false})`,
    `const o={}; try { o.toString=1; return null } catch { return 'SECRET' }`,
  ),
  attack(
    'Object.freeze(Object.prototype)',
    `Object.freeze(Object.prototype); Object.freeze(Error.prototype)`,
    `class E extends Error { constructor(){ super(); this.name='E' } } try { new E(); return null } catch { return 'SECRET' }`,
  ),
  attack(
    'Error.stackTraceLimit read-only',
    `Object.defineProperty(Error,'stackTraceLimit',{value:0,writable:false})`,
    `return Error.stackTraceLimit===0?'SECRET':null`,
  ),
  attack(
    'Error.prepareStackTrace read-only',
    `Object.defineProperty(Error,'prepareStackTrace',{value:()=>'SECRET',writable:false})`,
    `return new Error().stack`,
  ),
  attack(
    'getter and setter of stack',
    `const d=Object.getOwnPropertyDescriptor(new Error(),'stack'); d.get.leak='SECRET'`,
    `return Object.getOwnPropertyDescriptor(new Error(),'stack').get?.leak`,
  ),
  attack(
    'iterator helpers',
    `Object.getPrototypeOf([].values().map(x=>x)).leak='SECRET'`,
    `return [].values().map(x=>x).leak`,
  ),
  attack(
    'wrapped iterators',
    `Object.getPrototypeOf(Iterator.from({next(){}})).leak='SECRET'`,
    `return Iterator.from({next(){}}).leak`,
  ),
  attack(
    'DisposableStack, Temporal, ShadowRealm',
    `for (const n of ['DisposableStack','AsyncDisposableStack','Temporal','SuppressedError','Iterator']) try { globalThis[n].leak='SECRET'; globalThis[n].prototype.leak='SECRET' } catch {}`,
    `return ['DisposableStack','AsyncDisposableStack','Temporal','SuppressedError','Iterator'].map(n=>(globalThis[n]?.leak??'')+(globalThis[n]?.prototype?.leak??'')).join('')`,
  ),
];
