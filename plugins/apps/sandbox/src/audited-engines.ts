/**
 * Releases of V8 on which nothing was found that one session of a reused context leaves to the next: the audit, the attacks and the tests
 * of logic have passed (`npm run test:node-releases`). On any other, each session has a context of its own: a new engine may bring
 * an object that all sessions share (docs/decisions/reused-contexts.md).
 */
const audited: readonly string[] = [
  '11.3.244.8-node.38', // Node.js 20.20.2
  '12.4.254.21-node.57', // Node.js 22.23.3
  '13.6.233.17-node.53', // Node.js 24.21.0
  '14.6.202.34-node.34', // Node.js 26.10.0
];

/** Whether contexts may be reused on this engine. */
export const isAudited = (v8 = process.versions.v8): boolean => audited.includes(v8);
