import { describe, expect, test } from 'vitest';
import { fakeHost, programOf, runBody, runOnce, useRuntime } from './testing/harness';

const runtime = useRuntime();

const run = (body: string, host = fakeHost()) => runBody(runtime, body, host);

/** Node's own result of the same code, as JSON. */
const inNode = async (body: string) =>
  JSON.parse(JSON.stringify((await new Function(`return (async () => { ${body} })()`)()) ?? null));

const failing = (call: string) => `try { return ${call}; } catch (error) { return error.name; }`;

const same: string[] = [
  // URL
  `const u = new URL('https://user:p%20w@exämple.org:8080/a/../b c?q=1&q=2#h'); return [u.href, u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash, String(u), JSON.stringify({ u })];`,
  `return ['../x', '//other/y', '?q', '#f', 'mailto:a@b.c', 'http:///x'].map((one) => new URL(one, 'http://x.org/a/b').href);`,
  `return ['http://[::1]/', 'http://1.2.3/', 'http://%41/', 'data:text/plain,x', 'a', '', 'http://a b/'].map((one) => URL.canParse(one));`,
  failing(`new URL('nowhere')`),
  failing(`URL('http://x')`),
  `const u = new URL('http://x/a?b=1#c'); u.pathname = '/ü'; u.hash = ''; u.port = '99'; u.protocol = 'https'; u.host = 'y:1'; u.search = 'z=ö'; u.username = 'me'; return u.href;`,
  failing(`(() => { const u = new URL('http://x/'); u.href = 'bad'; })()`),
  `const u = new URL('http://x/?a=1&b=2'); u.searchParams.append('c', 'ü &='); u.searchParams.delete('a'); const before = u.href; u.search = '?n=1'; return [before, u.searchParams.get('n'), u.searchParams.has('b'), u.searchParams === u.searchParams];`,
  `const u = new URL('http://x/?a=1'); u.searchParams.delete('a'); return u.href;`,
  // URLSearchParams
  `return [...new URLSearchParams('?a=1&b=%C3%A4+x&&c&=d&e=%zz%ff')];`,
  `return String(new URLSearchParams({ 'ä b': '1&2', c: '*-._~', d: undefined, e: '\\ud800' }));`,
  `const p = new URLSearchParams([['b', '1'], ['a', '2'], ['b', '3']]); p.sort(); p.set('b', 'x'); return [p.toString(), p.size, p.getAll('a'), [...p.keys()], [...p.values()], p.has('a', '2'), p.get('none')];`,
  `const p = new URLSearchParams('a=1&a=2&b=3'); p.delete('a', '1'); const seen = []; p.forEach((value, name) => seen.push(name + value)); return seen;`,
  failing(`new URLSearchParams([['a']])`),
  // Text
  `return [...new TextEncoder().encode('aé€😀\\ud800')];`,
  `const to = new Uint8Array(5); return [new TextEncoder().encodeInto('a€😀', to), [...to]];`,
  `return [[0x61, 0xe2, 0x82], [0xf0, 0x9f, 0x98, 0x80], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82, 0x61], [0xef, 0xbb, 0xbf, 0x61], [0xf4, 0x90, 0x80, 0x80], [0xff]].map((bytes) => new TextDecoder().decode(new Uint8Array(bytes)));`,
  failing(`new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255]))`),
  `const d = new TextDecoder(); return [d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }), d.decode(new Uint8Array([0xac, 0x61]), { stream: true }), d.decode(new Uint8Array([0xe2])), d.decode()];`,
  `return new TextDecoder('UTF8', { ignoreBOM: true }).decode(new Uint8Array([0xef, 0xbb, 0xbf]).buffer);`,
  `return ['', 'a', 'ab', 'abc', 'ÿþ'].map(btoa);`,
  `return ['', 'YQ==', 'YQ', ' Y W I=', 'YWJj', '//8='].map(atob);`,
  failing(`atob('a')`),
  failing(`atob('a===')`),
  failing(`atob('ü')`),
  failing(`btoa('€')`),
  // structuredClone
  `const a = { d: new Date(5), m: new Map([[{ k: 1 }, new Set([1])]]), r: /x/gi, l: [1, , 3], n: null, u: undefined, b: 5n > 4n }; a.self = a; const c = structuredClone(a); return [c !== a, c.self === c, c.d.getTime(), [...c.m][0][0].k, [...c.m][0][1].has(1), String(c.r), c.l.length, 1 in c.l, 'u' in c];`,
  `const bytes = new Uint8Array([1, 2, 3, 4]).subarray(1, 3); const c = structuredClone(bytes); return [[...c], c.byteOffset, c.buffer.byteLength, c.buffer !== bytes.buffer];`,
  `const e = structuredClone(new RangeError('x', { cause: [1] })); return [e instanceof RangeError, e.name, e.message, e.cause];`,
  `class A { x = 1; get y() { return 2; } } const c = structuredClone(new A()); return [c, c.constructor === Object];`,
  failing(`structuredClone(() => 1)`),
  failing(`structuredClone({ a: Symbol('x') })`),
  failing(`structuredClone(Promise.resolve())`),
  `return structuredClone({ ['__proto__']: 1, a: 1 });`,
  // crypto
  `return [/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()), new Set(Array.from({ length: 100 }, () => crypto.randomUUID())).size];`,
  `const a = new Uint16Array(1000); return [crypto.getRandomValues(a) === a, new Set(a).size > 900];`,
  `const all = new Uint8Array(64); crypto.getRandomValues(all.subarray(16, 32)); return [all.slice(0, 16).every((b) => b === 0), all.slice(16, 32).some((b) => b !== 0), all.slice(32).every((b) => b === 0)];`,
  failing(`crypto.getRandomValues(new Uint8Array(65537))`).replace(
    'return error.name',
    "return error.name === 'QuotaExceededError'",
  ),
];

test.each(same)('as in Node: %s', async (body) => {
  expect(await run(body)).toEqual(await inNode(body));
});

test('each has its name and kind', async () => {
  const names = ['URL', 'URLSearchParams', 'TextEncoder', 'TextDecoder', 'atob', 'btoa', 'structuredClone'];
  expect(await run(`return ${JSON.stringify(names)}.map((name) => globalThis[name].name);`)).toEqual(names);
});

test('a program may declare a variable of such a name', async () => {
  const source = 'const URL = 5; function atob() { return 6; } export const f = () => [URL, atob()];';
  expect(await runOnce(runtime, source)).toMatchObject({ ok: true, value: [5, 6] });
  expect(await run('globalThis.URL = 7; return URL;')).toBe(7);
});

test.each([
  ['random bytes', 'for (;;) crypto.getRandomValues(new Uint8Array(65536));'],
  ['addresses', "for (let n = 0; ; n += 1) new URL('http://x/' + n);"],
  ['long names of hosts', "for (;;) URL.canParse('http://' + 'ä'.repeat(8000));"],
])('%s are bounded', async (_name, body) => {
  expect(await run(body)).toMatch(/LogicError: .*RangeError: more addresses or random bytes/);
});

/** Parsers of addresses leave out tabs and line breaks, and take backslashes as slashes. */
const starts = ['http://', 'http:/\t/\t/', 'http:\n\\\r/\n\\', 'ht\ttp:/\t/\t/', ' /\t/\t/', '\\\n\\\n/'];
test.each(starts)('a long name of a host counts as one after %j', async (start) => {
  const address = `${JSON.stringify(start)} + 'ä'.repeat(8000)`;
  const body = `let calls = 0; try { for (;; calls += 1) URL.canParse(${address}, 'http://x') } catch { return calls }`;
  expect(await run(body)).toBeLessThan(10);
});

// Its context ends: a second run would find none (reused.test.ts).
test('logic that ignores the bound runs into its time limit', { repeats: 0 }, async () => {
  await expect(run("for (;;) try { new URL('http://x') } catch {}")).rejects.toThrow(/ran longer than/);
  expect(await run('return 1;')).toBe(1);
});

test('they work after logic has changed how JSON is made', async () => {
  const body = `JSON.stringify = () => 'x'; JSON.parse = () => ({});
    return [new URL('http://x/?a=1').searchParams.get('a'), crypto.randomUUID().length];`;
  expect(await run(body)).toEqual(['1', 36]);
});

describe('console', () => {
  const logged = async (body: string) => {
    const host = fakeHost();
    await run(body, host);
    return host.logs.map(({ level = 'info', line, message }) => [level, line, message]);
  };

  test('its entries are in app.messages, between those of app.log', async () => {
    const body = `context.app.log('one', 1); console.warn('%s', 'two'); context.app.log({ three: 3 }); return context.app.messages;`;
    expect(await run(body)).toEqual(['one 1', 'two', '{"three":3}']);
  });

  test('keeps its levels, and the line', async () => {
    expect(
      await logged(
        `console.log('a', 1, { b: [2] }); console.info('i');\nconsole.debug('d');console.warn('w');\nconsole.error(new TypeError('e'));`,
      ),
    ).toEqual([
      ['info', 1, 'a 1 {"b":[2]}'],
      ['info', 1, 'i'],
      ['debug', 2, 'd'],
      ['warn', 2, 'w'],
      ['error', 3, 'TypeError: e'],
    ]);
  });

  test('formats, counts, groups and asserts', async () => {
    const body = `console.log('%s is %d%%, %j', 'x', '5', { y: 1 }, 'more'); console.group('g'); console.log('in'); console.groupEnd();
      console.count(); console.count(); console.assert(1, 'no'); console.assert(0, 'yes'); console.table([1]); console.time('t'); console.clear();`;
    expect((await logged(body)).map(([level, , message]) => `${level} ${message}`)).toEqual([
      'info x is 5%, {"y":1} more',
      'info g',
      'info   in',
      'info default: 1',
      'info default: 2',
      'error Assertion failed yes',
      'info [1]',
    ]);
  });

  test('is there at the top level of a file, and cut like other entries', async () => {
    const host = fakeHost();
    const program = programOf(`console.warn('x'.repeat(20000)); export const f = () => 1;`);
    expect(await runOnce(runtime, program, { host })).toMatchObject({ ok: true, value: 1 });
    expect(host.logs).toMatchObject([{ level: 'warn', message: 'x'.repeat(10240) }]);
  });

  test('counts as log entries', async () => {
    expect(await run('for (let n = 0; n < 200; n += 1) console.log(n);')).toMatch(/More than 100 log entries/);
  });
});
