import { Command as CommanderCommand, CommanderError, Option } from 'commander';
import { manifest } from '../../server/src/package-files';
import { CannotRun, type Command, type ExitCode, exitCodes, type Invocation } from './command';
import { commands } from './commands';
import { findHost, type Host } from './host';
import { createOutput, type Output } from './output';

const globalOptions = [
  ['--json', 'print the result as one JSON document'],
  ['--no-color', 'print no colours'],
  ['--dir <folder>', "the host's folder, or one inside it (default: here)"],
  ['--themes <folder>', 'the themes folder (default: that of the configuration)'],
] as const;

const exitCodeHelp = `
Exit codes: 0 fine, 1 problems found, 2 wrong usage or cannot run.`;

interface Globals {
  json?: boolean;
  color?: boolean;
  dir?: string;
  themes?: string;
}

/** Runs the command line with the given arguments, without the program's name. Never rejects. */
export async function runProgram(argv: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = exitCodes.fine;
  const program = new CommanderCommand('strapi-plugin-apps')
    .description('Small applications in the theme of a Strapi site: make them, check them, move their records')
    .version(manifest().version)
    .exitOverride();
  for (const command of commands) addTo(program, command, (reached) => (code = reached));
  program.addHelpText('after', exitCodeHelp);
  if (argv.length === 0) {
    program.outputHelp({ error: true });
    return exitCodes.cannotRun;
  }
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return code;
  } catch (error) {
    const output = createOutput({ json: argv.includes('--json') });
    if (!(error instanceof CommanderError)) report(error, output);
    else if (error.exitCode === 0) return exitCodes.fine;
    // Commander has printed it for people.
    else output.data({ error: { message: error.message.replace(/^error: /, '') } });
    return exitCodes.cannotRun;
  }
}

function addTo(parent: CommanderCommand, command: Command, end: (code: ExitCode) => void): void {
  const added = parent.command(command.usage).summary(command.summary).description(command.summary);
  added.exitOverride().showHelpAfterError(`(${added.name()} --help shows the usage)`);
  for (const argument of added.registeredArguments)
    argument.description = command.arguments?.[argument.name()] ?? argument.description;
  for (const { flags, summary, choices, default: value } of command.options ?? []) {
    const option = new Option(flags, summary);
    if (choices) option.choices(choices);
    if (value !== undefined) option.default(value);
    added.addOption(option);
  }
  for (const inner of command.commands ?? []) addTo(added, inner, end);
  const { load } = command;
  if (!load) return;
  for (const [flags, summary] of globalOptions) added.option(flags, summary);
  if (command.examples)
    added.addHelpText('after', ['', 'Examples:', ...command.examples.map((line) => `  ${line}`)].join('\n'));
  added.action(async () => {
    const { run } = await load();
    end(await run(invocationOf(added)));
  });
}

function invocationOf(command: CommanderCommand): Invocation {
  const options = command.opts<Globals & Invocation['options']>();
  const args = Object.fromEntries(
    command.registeredArguments.map((argument, at) => [
      argument.name(),
      command.processedArgs[at] as string | undefined,
    ]),
  );
  const cwd = process.cwd();
  const output = createOutput(options);
  let host: Host | undefined;
  return { args, options, output, cwd, host: () => (host ??= findHost({ cwd, ...options, note: output.note })) };
}

/** Prints why a command could not run. An error that no command expected is printed with its stack. */
function report(error: unknown, output: Output): void {
  const expected = error instanceof CannotRun;
  const message = expected ? error.message : String((error as Error)?.stack ?? error);
  output.note(`${output.paint('red', 'error:')} ${message}`);
  if (expected && error.cure !== undefined) output.note(`  ${error.cure}`);
  output.data({ error: { message, ...(expected && error.cure !== undefined ? { cure: error.cure } : {}) } });
}
