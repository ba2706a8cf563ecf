import type { Command } from '../command';
import { dev } from './dev';
import { init } from './init';
import { jobs } from './jobs';
import { lint } from './lint';
import { newCommand } from './new';
import { openapi, types } from './openapi';
import { check, reindex } from './records';
import { test } from './test';
import { exportCommand, importCommand } from './transfer';

/** All commands, in the order of `--help`: one file each, which says how it is called and loads its work. */
export const commands: readonly Command[] = [
  init,
  newCommand,
  lint,
  test,
  dev,
  exportCommand,
  importCommand,
  check,
  reindex,
  jobs,
  openapi,
  types,
];
