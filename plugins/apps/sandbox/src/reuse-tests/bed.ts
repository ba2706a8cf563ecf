import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ContextData, HostCalls } from '../../../shared/logic-protocol';
import { bundleInside } from '../../build.mjs';
import type { IsolatedVm, ivm } from '../isolated-vm';
import { createOwnAnswers } from '../own-answers';
import { ownCall } from '../own-calls';
import { again, later } from '../replies';
import { takeSeed } from '../seeds';

/** The isolated-vm of this Node.js (scripts/test-node-releases.mjs). */
function load(): IsolatedVm {
  const elsewhere = process.env.APPS_ISOLATED_VM;
  const require = createRequire(elsewhere ? join(elsewhere, 'x.js') : import.meta.url);
  const names = Number(process.versions.modules) >= 137 ? ['isolated-vm-7', 'isolated-vm'] : ['isolated-vm'];
  const name = names.find((one) => {
    try {
      return require.resolve(one);
    } catch {
      return false;
    }
  });
  return require(name ?? 'isolated-vm') as IsolatedVm;
}

const path = 'blocks/f.js';

/** A small `context`: of each kind of object one. */
export const given: ContextData = {
  app: {
    id: 'a',
    url: 'http://x/a',
    settings: { s: { t: 1 } },
    options: { o: [1] },
    blocks: [{ id: 'f', url: 'http://x/f' }],
    indexes: ['title'],
  },
  block: { id: 'f', url: 'http://x/f' },
  record: { id: 'now', url: 'http://x/now', items: { n: 1, o: { p: 1 } } },
  request: {
    method: 'POST',
    url: 'http://x/f?q=1',
    path: '/f',
    query: { q: '1', list: ['a', 'b'] },
    form: { title: 'T' },
    body: { b: 1 },
    headers: { accept: '*/*' },
  },
  parent_request: null,
  portal: { id: 's', title: 'S', url: 'http://x', theme: 't', locale: null, time_zone: 'Europe/Vienna' },
  content: { type: 'a', id: '1', documentId: 'd', title: 'C', url: null, path: '/c', locale: null, fields: { k: 1 } },
  user: { username: 'una', email: 'una@x' },
  visitor: { id: 'v' },
  params: { p: 1 },
  acl: { username: 'una', groups: ['g'], rights: [], roles: ['r'], held: ['r'], manager: false },
};
given.parent_request = { ...given.request };

const limits = { resultSize: 1e6, messageSize: 2e6, logEntrySize: 1e4 };

/** What the bed answers to a host call. */
function answerOf(name: string): unknown {
  const record = { id: 'r1', url: 'http://x/r1', items: { n: 1, o: { p: 1 } } };
  const answers: Record<string, unknown> = {
    getRecord: record,
    createRecord: record,
    changeRecord: record,
    saveRecord: { record, ran: true, returned: 1 },
    records: { records: [record], cursor: null },
    search: [record],
    portalGet: given.content,
    contentFind: [given.content],
    contentCreate: given.content,
    contentUpdate: given.content,
    documents: [{ a: 1 }],
    blockElements: { e: { type: 'NUMBER' } },
    openApp: { ...given.app, acl: given.acl },
    fetch: { status: 200, headers: {}, text: '{"a":1}' },
  };
  return answers[name] ?? null;
}

export interface SessionResult {
  /** The function's value; what ended the session, with `ended`. */
  value?: unknown;
  error?: { name: string; message: string };
  ended?: string;
  /** Whether logic failed with an error that a reused context may have caused. */
  again: boolean;
  /** Whether the context was as before at the end. */
  intact: boolean;
  calls: HostCalls;
}

/** One context of one isolate, as the runner makes it, for tests that look at what its sessions leave to each other. */
export interface Bed {
  /** Runs one function in a session of its own. */
  session(name: string, time?: number): Promise<SessionResult>;
  dispose(): void;
}

const vm = load();
const prelude = bundleInside('apps:prelude');

/** @param code of the module, which offers functions by `__offer`  @param outside put around the module: a channel between sessions, for the audit only */
export async function makeBed(code: string, { isReused = true, outside = '' } = {}): Promise<Bed> {
  const isolate = new vm.Isolate({ memoryLimit: 64, onCatastrophicError: () => undefined });
  let calls: HostCalls = [];
  let own = createOwnAnswers();
  const host = async (data: string): Promise<string> => {
    if (data.startsWith(ownCall)) return own(data.slice(1)) ?? '';
    const made = JSON.parse(data) as HostCalls;
    calls.push(...made);
    return JSON.stringify({ values: made.map(([name]) => answerOf(name)) });
  };
  const context = isolate.createContextSync();
  const start = isolate.compileScriptSync(await prelude, { filename: 'apps:prelude' });
  const begin = start.runSync(context, { reference: true }) as ivm.Reference;
  const made = begin.applySync(undefined, [new vm.Reference(host)], {
    result: { reference: true },
  }) as ivm.Reference<never>;
  const of = (name: string) => made.getSync(name as never, { reference: true }) as ivm.Reference;
  const [install, entry, take, end] = ['install', 'entry', 'take', 'end'].map(of) as [
    ivm.Reference,
    ivm.Reference,
    ivm.Reference,
    ivm.Reference,
  ];
  const text = `__define(${JSON.stringify(path)},{},function(exports,require,__offer){"use strict";${code}\n})`;
  const script = isolate.compileScriptSync(outside ? `(()=>{${outside};return ${text}})()` : text, { filename: path });
  const defined = script.runSync(context, { reference: true }) as ivm.Reference;
  install.applySync(undefined, [isReused, /\basync\b|Promise|then/.test(code), defined.derefInto()]);

  return {
    async session(name, time = 3000) {
      calls = [];
      own = createOwnAnswers();
      const calling = [{ name, contained: true }];
      const request = JSON.stringify({ op: 'open', entry: path, context: given, limits, calls: calling });
      const result: SessionResult = { again: false, intact: false, calls };
      try {
        const timeout = { timeout: time };
        let answer = (await entry.apply(undefined, [request, ...takeSeed()], timeout)) as string;
        while (answer === later) answer = (await take.apply(undefined, [], timeout)) as string;
        result.again = answer === again;
        const read = result.again ? {} : JSON.parse(answer);
        Object.assign(result, read.value ? read.value.outcomes[0] : read);
      } catch (error) {
        result.ended = error instanceof Error ? error.message : `rejected with ${String(error)}`;
      }
      if (!isolate.isDisposed) result.intact = end.applySync(undefined, []) === true;
      return result;
    },
    dispose: () => isolate.dispose(),
  };
}
