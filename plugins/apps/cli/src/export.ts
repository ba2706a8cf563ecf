import type { Separator } from '../../shared/cells';
import type { Run } from './command';
import { CannotRun } from './exit';

const isZip = (file: string | undefined): file is string => /\.zip$/i.test(file ?? '');

/** Records, or files as a ZIP, by the number of arguments. */
export const run: Run = async (invocation) => {
  const { from = '', target: second = '', file } = invocation.args;
  if (file !== undefined) {
    if (isZip(file))
      throw new CannotRun(
        'Records are exported as NDJSON or CSV, or as XLSX',
        'Files of an app: export <theme>/<app> <file.zip>',
      );
    const { exportRecords } = await import('./records/export');
    const separator = invocation.options.separator as Separator | undefined;
    return exportRecords(invocation, { site: from, app: second, file, separator });
  }
  if (!isZip(second)) {
    throw new CannotRun(
      `"${second}" is no ZIP, and no file for the records of an app was named`,
      'export <site> <app> <file>, or export <theme>[/<app>] <file.zip>',
    );
  }
  const { exportFiles } = await import('./archive');
  return exportFiles(invocation, { source: from, file: second });
};
