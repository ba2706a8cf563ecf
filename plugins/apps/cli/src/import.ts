import type { ReadChoices } from '../../server/src/interchange';
import type { Encoding, Separator } from '../../shared/cells';
import type { Invocation, Run } from './command';
import { CannotRun } from './exit';

function choicesOf({ block, language, sheet, separator, encoding }: Invocation['options']): ReadChoices {
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return {
    block: text(block),
    language: text(language),
    sheet: text(sheet),
    separator: separator as Separator | undefined,
    encoding: encoding as Encoding | undefined,
  };
}

/** Records, or files of a ZIP, by the number of arguments. */
export const run: Run = async (invocation) => {
  const { from = '', app, file } = invocation.args;
  if (app !== undefined && file !== undefined) {
    const { importRecords } = await import('./records/import');
    const { options } = invocation;
    return importRecords(invocation, {
      site: from,
      app,
      file,
      restore: options.restore === true,
      choices: choicesOf(options),
    });
  }
  if (app !== undefined || !/\.zip$/i.test(from)) {
    throw new CannotRun('The file is missing', 'import <site> <app> <file>, or import <file.zip>');
  }
  const { importFiles } = await import('./archive');
  return importFiles(invocation, from);
};
