import type { Attack } from './attack';

/**
 * One native call that fills the memory, which the engine cannot interrupt, beside logic that works: which of them has filled the
 * memory is not known while both run. One that is suspected runs again, and must be answered soon after its time all the same.
 */
function native(name: string, call: string): Attack {
  return {
    name: `memory-${name}`,
    block: {
      js: `export function f() { return ${call}.length; }
export function g() { const end = Date.now() + 1200; while (Date.now() < end); return 1; }\n`,
      yaml: 'elements: { f: BASIC, g: BASIC }\n',
    },
    requests: ['f', 'g', 'g'].map((name) => ({ path: `/site/@@apps/attack/blocks/{id}/${name}` })),
    status: [200, 500, 504],
    within: 3_000,
  };
}

export const memory: readonly Attack[] = [
  native('normalize', `'é'.repeat(2 ** 26).normalize('NFD')`),
  native('sort', 'Array.from({ length: 2 ** 24 }, (_, at) => -at).sort((a, b) => a - b)'),
  native('clone', 'structuredClone(Array(2 ** 24).fill(1.5))'),
  native('join', `Array(2 ** 27).fill('ab').join('')`),
];
