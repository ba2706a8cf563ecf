import type { Run } from '../command';
import { CannotRun } from '../exit';

/** Records, or files of a ZIP, by the number of arguments. */
export const run: Run = async (invocation) => {
  const { from = '', app, file } = invocation.args;
  if (app !== undefined && file !== undefined) {
    const { importRecords } = await import('../records/import');
    return importRecords(invocation, { site: from, app, file, restore: invocation.options.restore === true });
  }
  if (app !== undefined || !/\.zip$/i.test(from)) {
    throw new CannotRun('The file is missing', 'import <site> <app> <file>, or import <file.zip>');
  }
  const { importFiles } = await import('../archive/import');
  return importFiles(invocation, from);
};
