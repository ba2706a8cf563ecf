/**
 * Swaps files of a theme against links that lead out of it, as fast as it can, until it is ended: a process of its own,
 * like that of an attacker who may write into the theme's folder. Argument: JSON list of `{path, target, kind}`; `kind`:
 * `file` (renamed over each other), `folder` (moved away and back) or `pipe`.
 */
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');

const own = (path) => `${path}.own`;
const other = (path) => `${path}.other`;

const swaps = {
  file: {
    prepare({ path, target }) {
      fs.copyFileSync(path, own(path));
      fs.symlinkSync(target, other(path));
    },
    swap({ path, target }) {
      fs.renameSync(other(path), path);
      fs.symlinkSync(target, other(path));
      fs.copyFileSync(own(path), `${path}.next`);
      fs.renameSync(`${path}.next`, path);
    },
  },
  folder: {
    prepare({ path, target }) {
      fs.symlinkSync(target, other(path));
    },
    swap({ path }) {
      fs.renameSync(path, own(path));
      fs.renameSync(other(path), path);
      fs.renameSync(path, other(path));
      fs.renameSync(own(path), path);
    },
  },
  pipe: {
    prepare({ path }) {
      execFileSync('mkfifo', [other(path)]);
    },
    swap({ path }) {
      fs.renameSync(path, own(path));
      fs.renameSync(other(path), path);
      fs.renameSync(path, other(path));
      fs.renameSync(own(path), path);
    },
  },
};

const all = JSON.parse(process.argv[2]);
for (const one of all) swaps[one.kind].prepare(one);
process.send?.('ready');
for (;;) for (const one of all) swaps[one.kind].swap(one);
