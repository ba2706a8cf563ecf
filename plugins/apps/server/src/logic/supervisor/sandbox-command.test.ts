import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { startConfined } from '../../common/confined-process';
import { createLogicRuntime } from '../index';
import { inProcess, limits, programOf, runOnce, startRuntime } from '../testing/harness';

/** The command of docs/security.md, with the folders of this machine. */
const closed = (...folders: string[]) => [
  ...['--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--chdir', '/'],
  ...['--proc', '/proc', '--dev', '/dev', '--ro-bind', '/usr', '/usr'],
  ...['/bin', '/lib', '/lib64'].flatMap((folder) => ['--ro-bind-try', folder, folder]),
  ...folders.flatMap((folder) => ['--ro-bind', folder, folder]),
  '--',
];
const bwrap = '/usr/bin/bwrap';
if (!existsSync(bwrap)) console.warn('Not tested, because it is not on this machine: what bwrap keeps a program from');

/** Without the permission model, like a program that executes its own machine code. */
test.skipIf(!existsSync(bwrap))(
  'behind bwrap there is no file of the site, no other process and no network',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'apps-bwrap-'));
    const site = mkdtempSync(join(tmpdir(), 'apps-site-'));
    const listening = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    writeFileSync(join(site, '.env'), 'SECRET=1');
    const path = join(folder, 'probe.js');
    writeFileSync(
      path,
      `const fs = require('fs');
    const attempt = (work) => { try { return work() } catch (error) { return error.code } };
    const found = {
      env: attempt(() => fs.readFileSync(${JSON.stringify(join(site, '.env'))}, 'utf8')),
      writing: attempt(() => fs.writeFileSync(${JSON.stringify(join(folder, 'left'))}, '')),
      server: attempt(() => process.kill(${process.pid}, 0)),
      processes: fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).length,
    };
    const report = (network) => new (require('net').Socket)({ fd: 3, writable: true }).end(JSON.stringify({ ...found, network }));
    require('net').connect(${(listening.address() as AddressInfo).port}, '127.0.0.1').on('connect', () => report('reached')).on('error', (error) => report(error.code));`,
    );
    const command = [bwrap, ...closed(folder, dirname(process.execPath))];
    const child = startConfined(
      { path, unrestricted: true },
      { command },
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] },
    );
    let text = '';
    child.stdio[3]?.on('data', (data: Buffer) => {
      text += data.toString();
    });
    await new Promise((resolve) => child.once('close', resolve));
    listening.close();
    for (const one of [folder, site]) rmSync(one, { recursive: true });
    expect(JSON.parse(text)).toEqual({
      env: 'ENOENT',
      writing: 'EROFS',
      server: 'ESRCH',
      processes: 2,
      network: 'ECONNREFUSED',
    });
  },
);

describe('a command in front of a runner', () => {
  const found = (program: string) => ['/usr/bin', '/bin'].map((folder) => join(folder, program)).find(existsSync);
  const ways: [string, string[]][] = [
    ['sh', ['-c', 'ulimit -c 0; exec "$@"', 'sh']],
    ['prlimit', ['--core=0', '--nofile=256', '--']],
    ['setpriv', ['--no-new-privs', '--inh-caps=-all', '--']],
    [
      'bwrap',
      [
        '--unshare-all',
        '--die-with-parent',
        '--new-session',
        '--ro-bind',
        '/',
        '/',
        '--dev',
        '/dev',
        '--proc',
        '/proc',
        '--',
      ],
    ],
  ];
  for (const [program, args] of ways) {
    const path = found(program);
    if (!path) console.warn(`Not tested, because it is not on this machine: ${program} in front of a runner`);
    test.skipIf(!path)(`${program} leads to a runner that works`, async () => {
      const runtime = await startRuntime({}, [path as string, ...args]);
      expect(await runOnce(runtime, 'function f() { return 1 + 1 }')).toMatchObject({ value: 2 });
      const python = programOf({ 'blocks/test.py': 'def f(context):\n    return 2 + 2' }, 'blocks/test.py');
      expect(await runOnce(runtime, python)).toMatchObject({ value: 4 });
      await runtime.destroy();
    });
  }

  const failures: [string, string[], RegExp][] = [
    ['is not there', ['/nowhere/command'], /not available: spawn \/nowhere\/command ENOENT/],
    [
      'fails',
      ['/bin/sh', '-c', 'echo "no\nrights" >&2; exit 3'],
      /not available: the runner ended with code 3: no rights/,
    ],
  ];
  test.each(failures)('that %s is logged', async (_name, command, expected) => {
    const error = vi.fn();
    const runnerPath = join(__dirname, 'none.js');
    const runtime = createLogicRuntime({
      limits,
      sandbox: { command },
      logger: { error },
      runnerPath,
      workers: inProcess,
    });
    await expect(runOnce(runtime, 'function f() {}')).rejects.toMatchObject({ status: 503 });
    expect(error).toHaveBeenCalledWith(expect.stringMatching(expected));
    await runtime.destroy();
  });
});
