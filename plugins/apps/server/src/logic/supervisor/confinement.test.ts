import { appendFileSync, readdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { getPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasPermissionModel } from '../../common/confined-process';
import { makePrograms } from '../testing/harness';
import type { RunnerProcessOptions } from './runner';
import { startRunner } from './runner-process';

const [major = 0] = process.versions.node.split('.').map(Number);

/** Attempts of a program that has escaped from its isolate and runs as the runner's own JavaScript: their code. */
const attempts = {
  'a file beside it': "fs.readFileSync(path.join(__dirname, '.env'), 'utf8')",
  'its own code': 'fs.readFileSync(__filename).length > 0',
  'the environment of the server': "fs.readFileSync('/proc/' + process.ppid + '/environ', 'utf8')",
  'its working folder': 'fs.readdirSync(process.cwd())',
  'writing into its working folder': "fs.writeFileSync('left', '')",
  'writing into the temporary folder': "fs.writeFileSync(path.join(os.tmpdir(), 'apps-left'), '')",
  'writing its own code': "fs.appendFileSync(__filename, '')",
  'a process': "require('node:child_process').spawnSync('id').error?.code ?? 'ran'",
  'a thread': "new (require('node:worker_threads').Worker)('', { eval: true })",
  'a native module': "process.dlopen({ exports: {} }, '/x.node')",
  'a native module by require': "require.extensions['.node']({ exports: {} }, __filename)",
  'a signal to the server': 'process.kill(process.ppid, 0)',
  'the debugger of the server': 'process._debugProcess(process.ppid)',
  'its own debugger': "require('node:inspector').open(0)",
  environment: 'Object.keys(process.env)',
  priority: 'os.getPriority()',
  'its parent': 'process.ppid',
} as const;

const denied = 'ERR_ACCESS_DENIED';
const missing = 'TypeError';
const refusals: Partial<Record<keyof typeof attempts, string>> = {
  'a native module': missing,
  'a native module by require': missing,
  'a signal to the server': missing,
  'the debugger of the server': missing,
};
const permitted = ['its own code', 'environment', 'priority', 'its parent'];

/** Appended to a runner: makes every attempt, then connects to a port, and reports the results in its last message. */
const probe = (port: number) => `
{
  const [fs, os, path, net] = ['fs', 'os', 'path', 'net'].map((name) => require('node:' + name));
  const found = {};
  const attempt = (name, work) => {
    try {
      found[name] = work();
    } catch (error) {
      found[name] = error.code ?? error.name;
    }
  };
  ${Object.entries(attempts)
    .map(([name, code]) => `attempt(${JSON.stringify(name)}, () => ${code});`)
    .join('\n  ')}
  const report = (network) => connection.end({ type: 'unavailable', message: JSON.stringify({ ...found, network }) });
  try {
    net.connect(${port}, '127.0.0.1').on('connect', () => report('reached')).on('error', (error) => report(error.code));
  } catch (error) {
    report(error.code);
  }
}`;

if (!hasPermissionModel) console.warn(`Not tested: Node.js ${process.versions.node} has no permission model`);

const runner: RunnerProcessOptions['runner'] = {
  isolates: 1,
  memory: 64,
  languages: ['javascript', 'python'],
  messageSize: 2 * 1024 * 1024,
  packageManager: 'npm',
  reuseAfter: null,
  alone: false,
};

describe('a program that has escaped from its isolate', () => {
  const listening = createServer((socket) => socket.destroy());
  let made: Awaited<ReturnType<typeof makePrograms>>;
  let found: Record<string, unknown>;

  beforeAll(async () => {
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    made = await makePrograms();
    writeFileSync(join(dirname(made.runner), '.env'), 'SECRET=1');
    appendFileSync(made.runner, probe((listening.address() as AddressInfo).port));
    found = JSON.parse(
      await new Promise<string>((resolve) => {
        startRunner({ path: made.runner, runner, config: { command: [] }, unavailable: resolve, misbehaved: resolve });
      }),
    );
  });
  afterAll(async () => {
    listening.close();
    await made.remove();
  });

  test('has neither the environment nor the priority of the server', () => {
    expect(found).toMatchObject({ environment: [], priority: getPriority() + 3, 'its parent': process.pid });
  });

  const expected = Object.keys(attempts).filter((name) => !permitted.includes(name));
  test.skipIf(!hasPermissionModel).each(expected)('is refused %s', (name) => {
    expect(found[name]).toBe(refusals[name as keyof typeof attempts] ?? denied);
  });

  test('reads its own code, like every runner', () => {
    expect(found['its own code']).toBe(true);
  });

  // Documented in docs/security.md: before Node.js 25 the permission model leaves the network open.
  test('reaches the network before Node.js 25', () => {
    expect(found.network).toBe(major < 25 ? 'reached' : denied);
  });
});

test('its working folder is empty and read-only', async () => {
  const made = await makePrograms();
  const started = startRunner({
    path: made.runner,
    runner,
    config: { command: ['/bin/sh', '-c', 'exec "$@"', 'sh'] },
    unavailable: vi.fn(),
    misbehaved: vi.fn(),
  });
  await started.ready;
  expect(started.usable).toBe(true);
  if (process.platform === 'linux') {
    const folder = readlinkSync(`/proc/${started.pid}/cwd`);
    expect(readdirSync(folder)).toEqual([]);
    expect(statSync(folder).mode & 0o222).toBe(0);
  }
  started.kill();
  await started.ended;
  await made.remove();
});
