import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const root = join(__dirname, '../../../../..');
/** Settings of editors for a file without a project: newer ones resolve like bundlers, older ones like Node.js 10. */
const resolutions = { newer: ts.ModuleResolutionKind.Bundler, older: ts.ModuleResolutionKind.Node10 };

/** An editor's completions at the `|` of a logic file, and its diagnostics. */
function edit(file: string, marked: string, moduleResolution: ts.ModuleResolutionKind) {
  const path = join(root, 'themes/demo/apps/rating/blocks', file);
  const text = marked.replace('|', '');
  const host: ts.LanguageServiceHost = {
    getScriptFileNames: () => [path],
    getScriptVersion: () => '1',
    getScriptSnapshot(name) {
      const source = name === path ? text : ts.sys.readFile(name);
      return source === undefined ? undefined : ts.ScriptSnapshot.fromString(source);
    },
    getCurrentDirectory: () => root,
    getCompilationSettings: () => ({
      allowJs: true,
      strict: true,
      module: ts.ModuleKind.ESNext,
      moduleResolution,
      types: [],
    }),
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (name) => name === path || ts.sys.fileExists(name),
    readFile: ts.sys.readFile,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    realpath: ts.sys.realpath,
  };
  const service = ts.createLanguageService(host);
  const offered = service.getCompletionsAtPosition(path, marked.indexOf('|'), {})?.entries.map(({ name }) => name);
  const wrong = service
    .getSemanticDiagnostics(path)
    .map((problem) => ts.flattenDiagnosticMessageText(problem.messageText, ' '));
  return { offered, wrong };
}

describe.each(Object.entries(resolutions))('%s editors', (_name, resolution) => {
  test.each([
    [
      'rate.ts',
      "import type { Context } from 'strapi-plugin-apps/context';\nexport function rate(context: Context) { context.app.| }",
    ],
    [
      'rate.js',
      "/** @param {import('strapi-plugin-apps/context').Context} context */\nexport function rate(context) { context.app.| }",
    ],
  ])('complete context.app. in %s', (file, text) => {
    const { offered } = edit(file, text, resolution);
    expect(offered).toEqual(expect.arrayContaining(['create_record', 'get_record', 'search', 'records']));
    expect(offered).not.toContain('constructor');
  });

  test('report mistakes in TypeScript', () => {
    const text =
      "import type { Context } from 'strapi-plugin-apps/context';\nexport function rate({ app }: Context) { return app.serch('a == 1'); }|";
    expect(edit('rate.ts', text, resolution).wrong).toEqual([expect.stringContaining("Did you mean 'search'")]);
  });
});
