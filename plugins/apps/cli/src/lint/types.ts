import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import type TypeScript from 'typescript';
import type { Report } from '../../../server/src/apps';
import { PACKAGE, packageFolder } from '../../../server/src/package-files';
import { CannotRun } from '../exit';
import type { Host } from '../host';
import type { ThemePlace } from '../themes';

/** TypeScript's code of the error for a configuration that names no files. */
const NO_INPUTS = 18003;

/** Options of a theme without a `tsconfig.json`: as in the starter's, whose `types` the program gets as a file. */
const defaults = {
  target: 'ES2022',
  lib: ['ES2022'],
  module: 'ESNext',
  moduleResolution: 'Bundler',
  types: [],
  strict: true,
  noEmit: true,
  allowJs: true,
  resolveJsonModule: true,
  skipLibCheck: true,
};

/**
 * Checks the types of a theme's TypeScript logic with the host's TypeScript: as its `tsconfig.json` says, else strictly.
 * @param folders of the apps, by id
 * @param reports what each app reports to, with files relative to its folder
 */
export function checkTypes(host: Host, { folder, apps }: ThemePlace, reports: ReadonlyMap<string, Report>): void {
  const ts = typescriptOf(host);
  const config = configOf(ts, folder, apps);
  const [broken] = config.errors.filter(({ file, code }) => !file && code !== NO_INPUTS);
  if (broken) throw new CannotRun(`${folder}: ${ts.flattenDiagnosticMessageText(broken.messageText, '\n')}`);
  const files = config.fileNames.filter((file) => reports.has(appOf(apps, file)));
  if (files.length === 0) return;
  const options = {
    ...config.options,
    noEmit: true,
    incremental: false,
    composite: false,
    paths: pathsOf(config.options),
  };
  const program = ts.createProgram({ rootNames: [...files, typesOf('shared', 'globals')], options });
  for (const { file, start, messageText } of ts.getPreEmitDiagnostics(program)) {
    const report = file && reports.get(appOf(apps, file.fileName));
    if (!file || start === undefined || !report) continue;
    const { line, character } = file.getLineAndCharacterOfPosition(start);
    const path = relative(join(apps, appOf(apps, file.fileName)), file.fileName)
      .split(sep)
      .join('/');
    const message = ts.flattenDiagnosticMessageText(messageText, '\n');
    report({ severity: 'error', position: { file: path, line: line + 1, column: character + 1 }, message });
  }
}

const appOf = (apps: string, file: string) => relative(apps, file).split(/[\\/]/)[0] ?? '';

/** A file of the package's types. */
const typesOf = (folder: string, name: string) => join(packageFolder, 'dist', folder, `${name}.d.ts`);

/** The package's types of what logic and tests import, also where the theme is outside of the host's folder. */
const pathsOf = ({ paths }: TypeScript.CompilerOptions) => ({
  [`${PACKAGE}/context`]: [typesOf('shared', 'context')],
  [`${PACKAGE}/testing`]: [typesOf('testing', 'index')],
  ...paths,
});

function configOf(ts: typeof TypeScript, folder: string, apps: string): TypeScript.ParsedCommandLine {
  const file = join(folder, 'tsconfig.json');
  const given = existsSync(file)
    ? (ts.readConfigFile(file, ts.sys.readFile).config ?? {})
    : { compilerOptions: defaults, include: [`${apps}/**/*.ts`] };
  return ts.parseJsonConfigFileContent(given, ts.sys, dirname(file));
}

function typescriptOf({ root }: Host): typeof TypeScript {
  for (const from of [root ?? '', packageFolder].filter(Boolean)) {
    try {
      return createRequire(join(from, 'package.json'))('typescript') as typeof TypeScript;
    } catch {
      // The next one may have it.
    }
  }
  throw new CannotRun(
    'Types cannot be checked: the host has no TypeScript',
    'Run `npm install --save-dev typescript`.',
  );
}
