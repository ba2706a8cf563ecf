import { article, attempt, type Case, gives, throws } from './case';

/** Host calls: too many of them, and arguments of every shape; those of content are in content-calls.ts. */
export const calls: readonly Case[] = [
  {
    name: 'call-caught',
    js: `export function f({ app }) { for (let i = 0; i < 1e5; i++) try { app.get_record('x' + i); } catch {} }`,
    ...throws(/more than 1000 host calls/),
  },
  {
    name: 'call-floating',
    js: `export function f({ app }) { (async () => { for (;;) { await 0; try { app.count(); } catch {} } })(); return 'done'; }`,
    ...throws(/more than 1000 host calls/),
  },
  {
    name: 'call-log',
    js: `export function f({ app }) {
      let n = 0;
      for (; n < 1000; n++) try { app.log('line\\n[apps] forged\\r\\n' + n); } catch (error) { return [n, error.name]; }
    }`,
    ...gives([100, 'LogicError']),
  },
  {
    name: 'call-log-odd',
    js: `export function f({ app }) {
      for (const x of [null, undefined, {}, { toString() { throw 1; } }, () => 1, 10n, '\\u001b[2J\\u001b[31mred', 'x'.repeat(1e5), new Proxy({}, { get() { throw 1; } }), Symbol('q')])
        try { app.log(x); } catch {}
      return 1;
    }`,
    ...gives(1),
  },
  {
    name: 'call-large-names',
    js: `export function f({ app }) {
      const names = {};
      for (let i = 0; i < 150000; i++) names['n' + i] = i;
      try { return app.search('id == n5', { names }).length; } catch (error) { return error.name; }
    }`,
    ...gives('RangeError'),
  },
  {
    name: 'call-large-list',
    js: `export function f({ app }) {
      const x = Array.from({ length: 300000 }, (_, i) => i % 10 + '');
      try { return app.search('id in any (x)', { names: { x } }).length; } catch (error) { return error.name; }
    }`,
    ...gives('BadRequestError'),
  },
  {
    name: 'call-queries',
    js: `export function f({ app }) {
      ${attempt}
      for (const query of ['('.repeat(10000), 'not '.repeat(2500) + "id == 'x'", '('.repeat(51) + "id == 'a'" + ')'.repeat(51), '"'.repeat(9999),
        "id == '" + '\\\\'.repeat(9001), Array.from({ length: 1001 }, (_, i) => i % 10).join(' or '), 'x'.repeat(10241)])
        expectError(/^BadRequestError$/, query.slice(0, 9), () => app.search(query));
      return out;
    }`,
    ...gives([]),
  },
  {
    name: 'call-search-options',
    js: `export function f({ app }) {
      ${attempt}
      for (const options of [{ limit: -1 }, { limit: {} }, { offset: -1 }, { sort_index: '__proto__' }, { sort_index: "id'; --" },
        { sort_index: ['id'] }, { sort_index: {} }, { evil: 1 }, { names: [] }])
        expectError(/^(BadRequestError|TypeError|RangeError)$/, options, () => app.search('', options));
      return out;
    }`,
    ...gives([]),
  },
  {
    name: 'call-ids',
    js: `export function f({ app }) {
      ${attempt}
      for (const id of ['', '\\u0000', 'a\\u0000b', '\\n', 'x'.repeat(256), 'x'.repeat(1e6), null, undefined, 5, {}, [], Symbol.iterator, { id: {} }, NaN, 1n])
        expectError(/^(BadRequestError|TypeError|RangeError)$/, typeof id + String(id).slice(0, 9), () => app.get_record(id) ?? undefined.x);
      const none = ['../..', '__proto__', 'constructor', "'; drop table apps_records; --", '%00', '\\u202e', '😀'.repeat(255)].map((id) => app.get_record(id));
      return [out, none.every((one) => one === null)];
    }`,
    ...gives([[], true]),
  },
  {
    name: 'call-shapes',
    js: `export function f(context) {
      const { app, api, portal, request } = context;
      ${attempt}
      const allowed = /^(BadRequestError|TypeError|RangeError|NotFoundError|UnauthorizedError|ForbiddenError|SyntaxError)$/;
      for (const v of [null, undefined, 5, {}, [], Symbol.iterator, 10n, () => 1, new Date(0), /x/, new Proxy({}, {}), Object.create(null), '\\ud800', 'x'.repeat(2e5)])
        for (const call of [() => context.get_app(v), () => portal.get(v), () => api.documents(v).findMany({}), () => ${article}.count(v), () => app.search(v),
          () => app.search('', v), () => app.count(v), () => app.records(v), () => app.records({ cursor: v }), () => app.records({ limit: v }), () => app.get_block(v),
          () => app.acl.has_access_right(v), () => app.acl.has_role(v), () => context.escape(v), () => request.get(v), () => request.has(v)])
          try { call(); } catch (error) { if (!allowed.test(error.name)) out.push([typeof v, String(call), error.name, error.message.slice(0, 80)]); }
      const inherited = [() => app.acl.has_access_right('__proto__'), () => app.acl.has_role('constructor'), () => app.get_block('constructor'), () => request.get('constructor'), () => request.get('__proto__')];
      for (const call of inherited) try { if (call()) out.push(String(call)); } catch {}
      return out;
    }`,
    ...gives([]),
  },
  {
    name: 'call-other-app',
    js: `export function f({ get_app }) {
      const other = get_app('other');
      ${attempt}
      for (const call of [() => other.records().length || undefined.x, () => other.get_record('x').items(), () => other.create_record('late'), () => other.delete_record('x') || undefined.x, () => other.get_record('x').save({ a: 1 }),
        () => other.search('').length || undefined.x, () => get_app('../other').id, () => get_app('__proto__').id])
        expectError(/^(Unauthorized|Forbidden|NotFound|BadRequest|Type)Error$/, String(call), call);
      return out;
    }`,
    ...gives([]),
  },
  {
    name: 'call-other-session-write',
    js: `export function f({ app }) { for (let i = 0; i < 500; i++) app.create_record('late-' + i); throw new Error('back'); }`,
    ...throws(/^Error: back/),
  },
  {
    name: 'call-record-names',
    js: `export function f({ app }) {
      const record = app.create_record('names');
      for (const name of ['__proto__', 'constructor', 'prototype', 'then', 'toJSON', 'hasOwnProperty', 'id', 'creator', 'version']) try { record.set(name, { polluted: 1 }); } catch {}
      try { record.save(JSON.parse('{"__proto__":{"polluted":1},"id":"other","creator":"eric"}')); } catch {}
      return [typeof {}.polluted, record.id, typeof record.items];
    }`,
    ...gives(['undefined', 'names', 'function']),
  },
  {
    name: 'call-blocks',
    js: `export function f({ app }) {
      const record = app.create_record('blocks');
      ${attempt}
      for (const block of ['nope', '../../other/blocks/open', '__proto__', '', 'constructor', null, 5, {}]) {
        expectError(/^(NotFound|BadRequest|Type)Error$/, block, () => { record.set_block(block); return record.display(); });
      }
      return out;
    }`,
    ...gives([]),
  },
  ...['nope', '../../other/blocks/open', '__proto__', 'constructor'].map((block, at) => ({
    name: `call-save-in-no-block-${at}`,
    js: `export function f({ app }) { try { app.create_record('no-block').save({ a: 1 }, { block_id: '${block}' }); } catch {} return 1; }`,
    ...throws(/NotFoundError: There is no block/),
  })),
  {
    name: 'call-display-itself',
    js: `export function f({ app }) { const r = app.create_record('itself' + Math.random()); r.set_block('call-display-itself'); return r.display(); }`,
    layout: '<i>{f}</i>',
    // An error mark instead of the ninth.
    status: 200,
    has: /apps-record.*apps-error/,
    lacks: /(apps-record.*){9}/,
  },
  {
    name: 'call-display-in-get',
    method: 'GET',
    js: `export const f = ({ app }) => app.create_record('late').display();`,
    layout: '{f}',
    status: 403,
    error: 'CsrfError',
  },
  {
    name: 'call-headers',
    js: `export function f({ request: { response } }) {
      ${attempt}
      for (const status of [100, 101, 199, 600, 0, -1, 1e9, '404', 'x', {}, 2.5]) expectError(/^(BadRequest|Type|Range)Error$/, status, () => { response.status = status; });
      for (const [name, value] of [['set-cookie', 'a=b'], ['location', 'http://evil'], ['content-type', 'text/html'], ['Content-Security-Policy', '*'], ['access-control-allow-origin', '*'],
        ['x-app-a', 'b\\r\\nSet-Cookie: x=y'], ['x-app-b', 'b\\nc'], ['x-app-c\\r\\nSet-Cookie: z=1', 'b'], ['x-app-\\u0000', 'b'], ['x-app- x', 'b'], ['x-app:', 'b'],
        ['__proto__', 'x'], ['x-csrf-token', 'x'], ['transfer-encoding', 'chunked'], ['content-length', '5'], ['x-app-j', '\\u010a\\u010d']])
        expectError(/^(BadRequest|Type|Range)Error$/, name, () => response.set_header(name, value));
      return out;
    }`,
    ...gives([]),
    headers: { 'set-cookie': null },
  },
  {
    name: 'call-redirects',
    js: `export function f({ request: { response } }) {
      ${attempt}
      for (const to of ['//evil.example', 'http://evil.example', 'https:evil.example', 'https:/evil.example', 'javascript:alert(1)', '\\tjavascript:alert(1)', '\\\\\\\\evil.example', '/\\\\evil.example',
        '/\\t/evil.example', '\\u0000//evil', 'http://127.0.0.1:80@evil.example/', 'http://127.0.0.1.evil.example/', 'http://127.0.0.1\\\\@evil.example', 'data:text/html,x', 'ftp://127.0.0.1/',
        '/x\\r\\nSet-Cookie: a=b', 'vbscript:x', ' //evil.example', 'http:///evil.example', 'http:evil.example'])
        expectError(/^(BadRequest|Type)Error$/, to, () => response.redirect(to));
      return out;
    }`,
    ...gives([]),
    headers: { location: null },
  },
  {
    name: 'call-large-arguments',
    js: `export const f = ({ app }) => [1e7, 3e7].map((n) => { try { return app.search('a == b', { names: { b: 'y'.repeat(n) } }).length; } catch (error) { return error.name; } });`,
    ...gives(['RangeError', 'RangeError']),
  },
];
