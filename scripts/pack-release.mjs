/**
 * `node scripts/pack-release.mjs [COMMIT]`: packs the plugin of a commit, by default of the present one, as the release before this one,
 * with which the test of rolling upgrades runs (docs/decisions/rolling-upgrades.md). Needs git and tar.
 *
 * The package is built as npm gets it, in a work tree of its own, and holds its server only: no admin panel, documents, command line or
 * source maps; comments and white space are left out, names are kept.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { transformSync } from 'esbuild';
import { lastRelease, root, run, say } from './prepare.mjs';

/** What the server of the plugin runs and serves. */
const programs = ['server/index.js', 'server/worker.js', 'sandbox/runner.js'];
const copied = ['browser'];

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

/** Builds the plugin of a work tree, with the packages that are installed here. @returns its folder `dist` */
function buildIn(tree) {
  for (const part of ['.', 'plugins/apps'])
    symlinkSync(join(root, part, 'node_modules'), join(tree, part, 'node_modules'));
  const plugin = join(tree, 'plugins', 'apps');
  run(process.execPath, ['build.mjs', '--fast'], { cwd: plugin });
  return join(plugin, 'dist');
}

/** Writes the files of the package into a folder. */
function collect(tree, commit, folder) {
  const dist = buildIn(tree);
  for (const program of programs) {
    const { code } = transformSync(readFileSync(join(dist, program), 'utf8'), {
      minifyWhitespace: true,
      minifySyntax: true,
    });
    mkdirSync(join(folder, 'dist', program, '..'), { recursive: true });
    writeFileSync(join(folder, 'dist', program), code);
  }
  for (const part of copied) cpSync(join(dist, part), join(folder, 'dist', part), { recursive: true });
  const manifest = JSON.parse(readFileSync(join(tree, 'plugins', 'apps', 'package.json'), 'utf8'));
  // As npm notes it in a published package.
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ ...manifest, gitHead: commit }, null, 2)}\n`);
}

const commit = git('rev-parse', process.argv[2] ?? 'HEAD');
const work = mkdtempSync(join(tmpdir(), 'apps-release-'));
const [tree, folder] = [join(work, 'tree'), join(work, 'package')];
mkdirSync(folder);
git('worktree', 'add', '--detach', tree, commit);
try {
  collect(tree, commit, folder);
  // The same bytes for the same commit.
  const same = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--mode=u+rwX,go+rX-w'];
  const tar = execFileSync('tar', [...same, '-c', '-C', work, 'package'], { maxBuffer: 2 ** 26 });
  const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
  const packed = brotliCompressSync(tar, { params });
  writeFileSync(lastRelease.file, packed);
  say(`${lastRelease.file}: ${commit}, ${Math.round(packed.length / 1000)} kB`);
} finally {
  git('worktree', 'remove', '--force', tree);
  rmSync(work, { recursive: true, force: true });
}
