/** Groups of names that authors look for. Which of them logic has is found out in the sandbox. */
export const globals: { group: string; names: string[]; instead?: string }[] = [
  {
    group: 'Values and text',
    names: ['Object', 'Array', 'String', 'Number', 'Boolean', 'BigInt', 'Symbol', 'Math', 'JSON', 'RegExp', 'Date'],
  },
  { group: 'Collections', names: ['Map', 'Set', 'WeakMap', 'WeakSet', 'WeakRef', 'FinalizationRegistry'] },
  { group: 'Promises and generators', names: ['Promise', 'Proxy', 'Reflect'] },
  { group: 'Errors', names: ['Error', 'TypeError', 'RangeError', 'SyntaxError', 'AggregateError'] },
  { group: 'Languages and formats', names: ['Intl'] },
  { group: 'Bytes', names: ['ArrayBuffer', 'DataView', 'Uint8Array', 'Float64Array', 'SharedArrayBuffer', 'Atomics'] },
  {
    group: 'URI encoding',
    names: ['encodeURIComponent', 'decodeURIComponent', 'encodeURI', 'decodeURI', 'escape', 'unescape'],
  },
  { group: 'Log', names: ['console'], instead: '`context.app.log(message)`' },
  { group: 'Addresses', names: ['URL', 'URLSearchParams'], instead: '`encodeURIComponent`, `context.request.query`' },
  { group: 'Encodings', names: ['TextEncoder', 'TextDecoder', 'atob', 'btoa'] },
  { group: 'Copies', names: ['structuredClone'], instead: '`JSON.parse(JSON.stringify(value))`' },
  { group: 'Random values', names: ['crypto'], instead: '`Math.random()`, which is no secret' },
  {
    group: 'Timers',
    names: ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'],
    instead: '[schedules](definitions.md#schedules), [jobs](jobs.md)',
  },
  {
    group: 'Network',
    names: ['fetch', 'XMLHttpRequest', 'WebSocket'],
    instead: '[`context.fetch`](calls-out.md)',
  },
  { group: 'Node.js', names: ['process', 'Buffer', 'require', 'global', '__dirname'] },
  { group: 'Browser', names: ['window', 'document', 'localStorage', 'navigator'], instead: 'a script in `assets/`' },
  { group: 'Code from text', names: ['eval', 'Function', 'WebAssembly'] },
];

const code = (names: string[]) => names.map((name) => `\`${name}\``).join(', ');

/** The table: each group with the names that logic has, and those that it has not. `found` is in the order of the names. */
export function tableOfGlobals(found: boolean[]): string {
  let next = 0;
  const rows = globals.map(({ group, names, instead = '' }) => {
    const there = names.map(() => found[next++]);
    const has = names.filter((_, at) => there[at]);
    const lacks = names.filter((_, at) => !there[at]);
    return `| ${group} | ${code(has)} | ${code(lacks)} | ${lacks.length > 0 ? instead : ''} |`;
  });
  return ['| Subject | There | Not there | Instead |', '|---|---|---|---|', ...rows, ''].join('\n');
}
