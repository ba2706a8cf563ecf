import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PackageManager } from '../../../shared/logic-protocol';

/** Lock files, and the package managers that write them. */
const lockFiles: readonly [file: string, manager: PackageManager][] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['.yarnrc.yml', 'yarn'],
  ['yarn.lock', 'yarn-1'],
  ['package-lock.json', 'npm'],
];

/**
 * The package manager of the host, for commands in messages: the one whose lock file is nearest, else the one that runs this
 * script. Of npm and Yarn the release matters, which only a running script knows.
 * @param folder of the host, or one inside it
 * @param agent what package managers tell the scripts that they run, such as `npm/11.19.1 node/v20.20.2 linux x64`
 */
export function packageManagerOf(folder: string, agent = process.env.npm_config_user_agent ?? ''): PackageManager {
  const [, name = '', release = '0'] = /^(npm|pnpm|yarn|bun)\/(\d+)/.exec(agent) ?? [];
  const running =
    name === 'yarn' && release === '1' ? 'yarn-1' : name === 'npm' && Number(release) >= 12 ? 'npm-12' : name;
  const locked = lockedIn(folder);
  // A script of another package manager than the one that has installed the packages says nothing about that one.
  const isSame = locked === null || locked.split('-')[0] === name;
  return isSame && running !== '' ? (running as PackageManager) : (locked ?? 'npm');
}

function lockedIn(folder: string): PackageManager | null {
  const [, found = null] = lockFiles.find(([file]) => existsSync(join(folder, file))) ?? [];
  const parent = dirname(folder);
  return found !== null || parent === folder ? found : lockedIn(parent);
}
