import ts from 'typescript';

/** The errors of TypeScript in a file and those that it imports, each as `line: message`. */
export function typeErrors(file: string): string[] {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  };
  return ts.getPreEmitDiagnostics(ts.createProgram([file], options)).map(({ file, start = 0, messageText }) => {
    const line = (file?.getLineAndCharacterOfPosition(start).line ?? 0) + 1;
    return `${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}
