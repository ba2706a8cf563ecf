import { ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { getPriority, setPriority, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { SandboxConfig } from '../config.types';

export interface ConfinedProgram {
  /** Absolute path of the program's file. */
  path: string;
  args?: readonly string[];
  /** Flags of Node.js. */
  flags?: readonly string[];
  /** Packages that the program loads, as it names them. It may read their files, and nothing else. */
  packages?: readonly string[];
  /** Other files and folders that it may read. */
  read?: readonly string[];
  /** Whether it may load native modules. */
  addons?: boolean;
  /** Whether it may read and write every file, start processes and threads: no permission model. */
  unrestricted?: boolean;
}

type Manifest = Partial<Record<'dependencies' | 'optionalDependencies', object>>;

/** What a program may do besides running its own code. */
export type ProcessAccess = Pick<ConfinedProgram, 'packages' | 'read' | 'addons' | 'unrestricted'>;

/** When the server and its processes compete for a processor, the server gets twice the time. */
const niceness = 3;

type Channel = Pick<SpawnOptions, 'stdio' | 'serialization'>;

/** The permission model's flag in this Node.js; undefined without one, or without one that allows native modules. */
const permissionFlag = process.allowedNodeEnvironmentFlags.has('--allow-addons')
  ? ['--permission', '--experimental-permission'].find((flag) => process.allowedNodeEnvironmentFlags.has(flag))
  : undefined;

/** Whether this Node.js restricts its processes: 20.12 and newer. */
export const hasPermissionModel = permissionFlag !== undefined;

/**
 * Starts a program of the plugin as a process that can do as little as possible: no environment, an empty working folder,
 * a lower priority, Node.js's permission model (no files but its own, no processes, no threads) and the configured command.
 * Never throws: that it could not start, for example without file descriptors, comes as its 'error' event. Such a process has no
 * `pid`, and may have neither streams nor a channel.
 */
export function startConfined(program: ConfinedProgram, config: SandboxConfig, channel: Channel): ChildProcess {
  try {
    const child = spawnConfined(program, config, channel);
    lowerPriority(child);
    return child;
  } catch (error) {
    const none = new ChildProcess();
    process.nextTick(() => none.emit('error', error));
    return none;
  }
}

/** Ends a process at once. Without a `pid`, `kill` would send the signal to all processes of this one's group. */
export function killProcess(child: ChildProcess): void {
  if (child.pid !== undefined) child.kill('SIGKILL');
}

function spawnConfined(program: ConfinedProgram, { command }: SandboxConfig, channel: Channel): ChildProcess {
  const { path, args = [], flags = [] } = program;
  const [file = process.execPath, ...rest] = [
    ...command,
    process.execPath,
    ...flags,
    ...permissionFlags(program),
    path,
    ...args,
  ];
  return spawn(file, rest, { ...channel, env: {}, cwd: emptyFolder() });
}

/** Flags by program. Packages do not move while the server runs, and a search on the disk would block it. */
const knownFlags = new Map<string, string[]>();

function permissionFlags(program: ConfinedProgram): string[] {
  const { path, packages, read, addons, unrestricted } = program;
  if (!permissionFlag || unrestricted) return [];
  const key = JSON.stringify([path, packages, read, addons]);
  const flags = knownFlags.get(key) ?? findFlags(program, permissionFlag);
  knownFlags.set(key, flags);
  return flags;
}

function findFlags({ path, packages = [], read = [], addons }: ConfinedProgram, permission: string): string[] {
  const folders = packages.flatMap((name) => [...packageFolders(path, name)]);
  // node-gyp-build, which finds a package's native module, reads this file to find out the C library.
  const files = [path, realPath(path), ...links(path), ...(addons ? ['/etc/alpine-release'] : []), ...read];
  return [
    permission,
    '--no-warnings',
    ...(addons ? ['--allow-addons'] : []),
    ...widest([...files, ...folders]).map((one) => `--allow-fs-read=${one}`),
  ];
}

/** Drops paths inside other paths: some releases of Node.js lose the wider permission when they get the narrower one. */
function widest(paths: readonly string[]): string[] {
  const distinct = [...new Set(paths)];
  return distinct.filter((path) => !distinct.some((other) => path.startsWith(join(other, '/')) && path !== other));
}

/**
 * Folders of a package and of its dependencies: every folder in which Node.js searches for them, and the targets of links.
 * Empty if the package is absent.
 */
function packageFolders(from: string, name: string, known = new Set<string>()): Set<string> {
  const candidates = (createRequire(from).resolve.paths(name) ?? []).map((folder) => join(folder, name));
  const at = candidates.findIndex((folder) => existsSync(join(folder, 'package.json')));
  const found = candidates[at];
  if (!found || known.has(join(found, '*'))) return known;
  const folders = [...candidates.slice(0, at + 1), realPath(found)].map((folder) => join(folder, '*'));
  for (const path of [...links(found), ...folders]) known.add(path);
  const manifest = join(realPath(found), 'package.json');
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(manifest, 'utf8')) as Manifest;
  for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies }))
    packageFolders(manifest, dependency, known);
  return known;
}

/** The symbolic links among a path and its parents: Node.js reads them. */
function links(path: string): string[] {
  const folder = dirname(path);
  if (folder === path || !existsSync(path)) return [];
  return [...links(folder), ...(lstatSync(path).isSymbolicLink() ? [path] : [])];
}

function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

/** An empty, read-only folder that all servers of this user share. If its path is taken: a folder of this process. */
function emptyFolder(): string {
  const folder = join(tmpdir(), `apps-empty-${process.getuid?.() ?? 'user'}`);
  try {
    mkdirSync(folder, { mode: 0o555 });
  } catch {
    // It exists already, or cannot be created.
  }
  if (isEmptyAndOwn(folder)) return folder;
  ownFolder ??= mkdtempSync(join(tmpdir(), 'apps-empty-'));
  chmodSync(ownFolder, 0o555);
  return ownFolder;
}

let ownFolder: string | undefined;

function isEmptyAndOwn(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (!found?.isDirectory() || (process.getuid && found.uid !== process.getuid())) return false;
  const isClosed = process.platform === 'win32' || (found.mode & 0o222) === 0;
  return isClosed && readdirSync(folder).length === 0;
}

/** Threads that the process starts later inherit the priority. */
function lowerPriority({ pid }: ChildProcess): void {
  try {
    if (pid) setPriority(pid, Math.min(19, getPriority() + niceness));
  } catch {
    // The process has ended, or the system forbids the change.
  }
}
