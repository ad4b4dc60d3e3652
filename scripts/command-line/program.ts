import { explainShortage, MeshError, readSystemCode } from '@gaia-mesh/core/contracts/errors.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { Command, CommanderError } from 'commander';
import { toExitCode, USAGE_EXIT } from './exit-code.ts';
import { explainHelp, twoLevelHelp } from './help.ts';

/** One line of the list of commands. Its arguments and action are loaded only when they are needed. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** The heading of its group. */
  readonly group: string;
  /** True for commands that few people need: only `--help --all` lists them. */
  readonly advanced?: boolean;
  /** Loads the function that adds arguments, options and the action. */
  readonly load: () => Promise<(command: Command) => void>;
}

interface Program {
  readonly name: string;
  readonly description: string;
  readonly commands: readonly CommandEntry[];
}

/** Runs the command that the process was started with, and sets the exit code. */
export async function runProgram(program: Program): Promise<void> {
  // The reader of the output closed the pipe (`| head`): this neither ends a run nor deserves a stack trace.
  process.stdout.on('error', ignoreClosedPipe);
  process.stderr.on('error', ignoreClosedPipe);
  const [first, ...rest] = process.argv.slice(2);
  // `help bench` means `bench --help`.
  const args = first === 'help' ? [...rest.slice(0, 1), '--help'] : process.argv.slice(2);
  try {
    const parser = await createParser(program, args);
    await parser.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has printed the fault; help and version end here too, with 0.
      process.exitCode = error.exitCode === 0 ? 0 : USAGE_EXIT;
    } else if (error instanceof MeshError) {
      const option = error.setting === undefined ? '' : ` (--${error.setting})`;
      printError(`${program.name}: ${error.message}${option}`);
      process.exitCode = toExitCode(error);
    } else {
      const lack = explainShortage(error);
      if (lack === undefined || !(error instanceof Error)) throw error;
      printError(`${program.name}: ${lack} (${error.message})`);
      process.exitCode = 1;
    }
  }
}

/** Creates a parser with the whole command that `args` name, and only the summaries of all others. */
export async function createParser(
  { name, description, commands }: Program,
  args: readonly string[],
): Promise<Command> {
  const showsAll = args.includes('--all');
  const parser = new Command(name)
    .description(description)
    .version(packageVersion)
    .helpCommand(false)
    // Options after a command belong to that command, or to a command within it.
    .enablePositionalOptions()
    .configureHelp(twoLevelHelp(showsAll))
    .showSuggestionAfterError()
    .showHelpAfterError('run it with --help to see its arguments and options')
    .exitOverride();
  for (const entry of commands) {
    const command = parser
      .command(entry.name, { hidden: entry.advanced === true && !showsAll })
      .summary(entry.summary)
      .description(entry.summary)
      .helpGroup(`${entry.group}:`);
    if (entry.name !== args[0]) continue;
    (await entry.load())(command);
    for (const described of [command, ...command.commands]) explainHelp(described, showsAll);
  }
  explainHelp(parser, showsAll);
  return parser;
}

function ignoreClosedPipe(error: Error): void {
  if (readSystemCode(error) !== 'EPIPE') throw error;
}
