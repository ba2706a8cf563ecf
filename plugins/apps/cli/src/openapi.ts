import { resolve } from 'node:path';
import type { OpenApiTools } from '../../server/src';
import { CannotRun, exitCodes, type RunCommand } from './command';
import { withStrapi } from './host';
import { writeWhole } from './import';

/** Prints or writes an OpenAPI document (docs/reference/openapi.md#by-command-line). */
export const run: RunCommand = async ({ args, output, cwd, host }) => {
  const { site, app, file } = args;
  const document = await withStrapi(host(), (strapi) =>
    (strapi.plugin('apps').service('openapi') as OpenApiTools).document(site, app).catch((error: Error) => {
      throw new CannotRun(error.message);
    }),
  );
  if (!document) {
    throw new CannotRun(
      app === undefined ? `There is no site "${site}"` : `There is no app "${app}" in a site "${site}"`,
    );
  }
  if (file === undefined) {
    output.line(JSON.stringify(document, null, 2));
    output.data(document);
    return exitCodes.fine;
  }
  const path = resolve(cwd, file);
  await writeWhole(path, (write) => write(`${JSON.stringify(document, null, 2)}\n`));
  const operations = Object.values(document.paths as object).flatMap((methods) =>
    Object.keys(methods).filter((name) => name !== 'parameters'),
  ).length;
  output.line(`${operations} operations written to ${path}`);
  output.data({ file: path, operations });
  return exitCodes.fine;
};
