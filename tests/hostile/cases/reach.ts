import { type Case, gives, throws } from './case';

/** Logic that tries to leave its sandbox, or to read what others left there. */
export const reach: readonly Case[] = [
  {
    name: 'reach-globals',
    js: `export const f = () => ['process', 'require', 'module', 'fetch', 'setTimeout', 'setInterval', 'setImmediate', 'Buffer',
      'WebAssembly', 'SharedArrayBuffer', 'Atomics', 'importScripts', 'Deno', 'XMLHttpRequest', 'queueMicrotask', 'gc', 'd8', 'print', 'read', 'load', 'quit', 'ivm', '_ivm', 'isolate', 'host', '__host', 'performance', 'navigator', 'Worker'].filter((name) => typeof globalThis[name] !== 'undefined');`,
    ...gives([]),
  },
  {
    name: 'reach-every-constructor',
    js: `function walk(roots) {
      const out = [], seen = new Set(), waiting = roots.map((root) => [root, '', 0]);
      for (let n = 0; waiting.length && n < 3000; n++) {
        const [o, path, depth] = waiting.shift();
        if (o === null || (typeof o !== 'object' && typeof o !== 'function') || seen.has(o)) continue;
        seen.add(o);
        try {
          const make = o.constructor && o.constructor.constructor;
          const found = typeof make === 'function' ? make('return typeof process + typeof require')() : 'undefinedundefined';
          if (found !== 'undefinedundefined') out.push([path, found]);
        } catch (error) { if (!/not a constructor|Code generation/.test(error.message)) out.push([path, error.message]); }
        if (depth < 6) for (const key of Reflect.ownKeys(o).slice(0, 80)) try { waiting.push([o[key], path + '.' + String(key), depth + 1]); } catch {}
        try { waiting.push([Object.getPrototypeOf(o), path + '.__proto__', depth + 1]); } catch {}
      }
      return [seen.size > 100, out];
    }
    export function f(context) {
      const roots = [context, context.get_app('other'), context.portal.get('/articles/one')];
      for (const call of [() => context.app.search('((('), () => context.api.documents('x').findMany({}), () => context.api.documents('api::article.article').findMany({})])
        try { roots.push(call()); } catch (error) { roots.push(error); }
      return walk(roots);
    }`,
    ...gives([true, []]),
  },
  {
    name: 'reach-function-kinds',
    js: `export async function f() {
      const out = [];
      for (const one of [async function () {}, function* () {}, async function* () {}, () => {}, class {}]) {
        let value = one.constructor('return typeof process + typeof require')();
        if (value.next) value = value.next();
        value = await value;
        out.push(value.value ?? value);
      }
      return [...out, (0, eval)('typeof process')];
    }`,
    ...gives([...Array(5).fill('undefinedundefined'), 'undefined']),
  },
  {
    name: 'reach-evaluated-import',
    js: `export async function f() {
      const out = [];
      for (const code of ["import('fs')", "import('node:fs')", "import('./x.js')", "import('/etc/passwd')",
        "import('data:text/javascript,export default 1')", "new Function('return import(\\"fs\\")')()",
        "(async()=>{}).constructor('return import(\\"node:fs\\")')()", 'import.meta.url'])
        try { out.push(typeof (await (0, eval)(code))); } catch (error) { out.push('refused'); }
      return out;
    }`,
    ...gives(Array(8).fill('refused')),
  },
  {
    name: 'reach-import-in-function',
    js: `export async function f() { return typeof (await import('node:fs')); }`,
    ...throws(/^import\(\) is not available/),
  },
  {
    name: 'reach-stacks',
    js: `export function f({ app, api, portal }) {
      const out = [];
      Error.stackTraceLimit = Infinity;
      for (const call of [() => app.search('((('), () => app.create_record('\\u0000'), () => api.documents('no').findMany({}), () => portal.get(5), () => null.x])
        try { call(); } catch (error) { out.push(error.stack, error.constructor === Error || error instanceof Error, error.constructor.constructor === Function); }
      return out.join(' ');
    }`,
    status: 200,
    has: /BadRequestError.*NotFoundError.*TypeError/s,
    lacks: /node:|\.mjs|runner|dist|isolated|\/server\/|false/,
  },
  {
    name: 'reach-json-hooks',
    js: `export function f({ app, api }) {
      const { parse, stringify } = JSON, seen = [];
      JSON.parse = (text) => { seen.push(text); return parse(text); };
      JSON.stringify = (value) => { seen.push(value); return stringify(value); };
      app.get_record('x');
      api.documents('api::article.article').findMany({ fields: ['title'] });
      Object.assign(JSON, { parse, stringify });
      return seen;
    }`,
    ...gives([]),
  },
  {
    name: 'reach-setters-of-all',
    js: `export function f({ app, api }) {
      const names = ['ok', 'error', 'value', 'result', 'app', 'id', 'method', 'uid', 'params', 'options', 'name', 'message', 'then', 'host',
        'data', 'type', 'call', 'args', 'requester', 'user', 'roles', 'permissions', 'kind', 'fn', 'status', 'limit', 'stack', 'trusted'];
      const seen = [];
      for (const name of names) Object.defineProperty(Object.prototype, name, Object.assign(Object.create(null), { configurable: true, get() {}, set() { seen[seen.length] = name; } }));
      try { app.get_record('x'); api.documents('api::article.article').findFirst({ fields: ['title'] }); } catch {}
      for (const name of names) delete Object.prototype[name];
      return seen;
    }`,
    ...gives([]),
  },
  {
    name: 'reach-call-hooks',
    js: `export function f({ app }) {
      const { call, apply } = Function.prototype, real = Reflect.apply, seen = [];
      Reflect.apply = (g, ...rest) => { seen.push('Reflect'); return real(g, ...rest); };
      Function.prototype.call = function (...rest) { seen.push('call'); return real(call, this, rest); };
      Function.prototype.apply = function (...rest) { seen.push('apply'); return real(apply, this, rest); };
      try { app.get_record('x'); } catch (error) { seen.push(error.message); }
      Reflect.apply = real;
      Object.assign(Function.prototype, { call, apply });
      return seen;
    }`,
    ...gives([]),
  },
  {
    name: 'reach-sloppy-callers',
    js: `export function f({ app }) {
      const look = Function('out', 'return function g() { let c = g.caller; for (let n = 0; c && n < 10; n++) { out.push(String(c)); c = c.caller; } return "x"; }');
      const out = [], spy = look(out);
      try { app.get_record({ toString: spy }); } catch {}
      try { app.search('x', { names: { x: { toJSON: spy } } }); } catch {}
      spy();
      return out;
    }`,
    ...gives([]),
  },
  {
    name: 'reach-pattern-statics',
    js: `const before = [RegExp.$1, RegExp.input, RegExp.lastMatch, RegExp.leftContext, RegExp.rightContext];
    export const f = () => [...before, RegExp.input, RegExp.lastMatch, RegExp.leftContext, RegExp.rightContext].filter((text) => text !== '');`,
    ...gives([]),
  },
  {
    name: 'reach-left-behind',
    js: `globalThis.kept = (globalThis.kept ?? 0) + 1;
    let count = 0;
    Object.prototype.polluted = 1;
    JSON.left = (JSON.left ?? 0) + 1;
    export function f(context) {
      count++;
      context.app.left = 1;
      Object.getPrototypeOf(context.app).left = 1;
      RegExp.left = Promise.prototype.left = 1;
      Date.now = () => 666;
      Math.random = () => 0.5;
      delete Object.prototype.polluted;
      return [globalThis.kept, count, JSON.left];
    }`,
    ...gives([1, 1, 1]),
  },
  {
    name: 'reach-source-ends',
    js: '}}); (function () { globalThis.out = typeof process; })(); ({ x() {\nexport const f = () => globalThis.out;',
    ...throws(/^SyntaxError/),
  },
  {
    name: 'reach-source-comment',
    js: 'export const f = () => typeof out;\n//`; })(); */ $' + '{process} \\u2028 globalThis.out = 1;',
    ...gives('undefined'),
  },
  {
    name: 'reach-export-names',
    js: 'const x = () => 1;\nexport { x as default, x as "__proto__", x as "constructor", x as then, x as f };',
    ...gives(1),
  },
  {
    name: 'reach-export-then',
    js: `export function then(r) { r({ f: () => 'forged' }); }\nexport const f = () => 1;`,
    ...gives(1),
  },
];

const noFile = (specifier: string, name: string): Case => ({
  name,
  js: `import x from '${specifier}';\nexport const f = () => x;`,
  ...throws(
    /^Cannot import '.+': (there is no such file in the app's folder|only relative imports inside the app's folder)/,
  ),
});

/** Imports of files outside of the app. `lib/link.json` and `lib/linked` are symbolic links that lead outside. */
export const imports: readonly Case[] = [
  noFile('file:///etc/passwd', 'import-file-address'),
  noFile('http://127.0.0.1/x.js', 'import-address'),
  noFile('fs', 'import-bare'),
  noFile('strapi-plugin-apps/context', 'import-plugin'),
  noFile('../../other/lib/rights.js', 'import-other-app'),
  noFile('..\\\\..\\\\other\\\\lib\\\\rights.js', 'import-backslashes'),
  noFile('../lib/%2e%2e/%2e%2e/other/lib/rights.js', 'import-encoded'),
  noFile('../settings.yaml', 'import-settings'),
  noFile('../lib/link.json', 'import-link'),
  noFile('../lib/linked/outside.json', 'import-linked-folder'),
  {
    name: 'import-itself',
    js: `import * as me from './import-itself.js';\nexport const f = () => Object.keys(me);`,
    ...gives(['f']),
  },
  {
    name: 'import-circle',
    js: `import { one } from '../lib/one';\nexport const f = () => one();`,
    ...gives('one two'),
  },
  {
    name: 'import-require',
    js: `const fs = require('fs');\nmodule.exports = { f: () => fs.readFileSync('/etc/passwd', 'utf8') };\nexport const f = () => 1;`,
    ...throws(/^require is not available/),
  },
];
