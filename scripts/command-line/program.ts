import {
  type ErrorCode,
  explainSystemFault,
  MeshError,
  readSystemCode,
  toErrorMessage,
} from '@gaia-mesh/core/contracts/errors.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { quoteShellWord } from '@gaia-mesh/core/system/shell-word.ts';
import { toFlag } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { printError, printText } from '@gaia-mesh/evaluation/terminal/print.ts';
import { Command, CommanderError, Help, type HelpConfiguration } from 'commander';
import { EXIT, toExitCode } from './exit-code.ts';
import { isInterrupted } from './interruptible.ts';
import { findTable } from './options.ts';
import { resumption } from './resume-command.ts';

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

/**
 * Runs the command that `args` name, and sets the exit code. It explains a failure in a sentence and prints a stack trace only
 * for a bug of ours.
 */
export async function runProgram(
  program: Program,
  args: readonly string[] = process.argv.slice(2),
): Promise<void> {
  const [first, ...rest] = args;
  resumption.reset();
  try {
    // `help bench` means `bench --help`.
    const asked = first === 'help' ? [...rest.slice(0, 1), '--help'] : args;
    const [name = '-'] = asked;
    const isKnown = name.startsWith('-') || program.commands.some((one) => one.name === name);
    // Commander ignores an unknown name beside --help, so the name is parsed alone and refused.
    const words = isKnown ? asked : [name];
    const parser = await createParser(program, words);
    const command = parser.commands.find((one) => one.name() === first);
    if (command !== undefined) {
      refuseSwallowed(command, args, process.env);
      refuseUnknown(command, rest);
    }
    await parser.parseAsync(words, { from: 'user' });
  } catch (error) {
    process.exitCode = reportFault(program.name, error);
    // After a bug, a timer or a socket may keep the process alive for ever.
    if (isBug(error)) process.exit();
  }
}

/** Handles what no command catches: errors in timers, and output that cannot be written. */
export function guardProcess(name: string): void {
  process.on('uncaughtException', (error) => process.exit(reportFault(name, error)));
  for (const stream of ['stdout', 'stderr'] as const)
    process[stream].on('error', (error) => {
      // A reader that closes the pipe (`| head`) is no fault. Other errors are reported, but do not end the run either.
      if (readSystemCode(error) === 'EPIPE' || !failAtEnd() || stream === 'stderr') return;
      printError(`${name}: standard output: ${explainSystemFault(error) ?? toErrorMessage(error)}`);
    });
}

/** npm's own configuration, which may come from a `.npmrc`: a folder, and a shorthand of `loglevel`. */
const NPM_OWN = ['cache', 'quiet'];

/**
 * Refuses options that npm took for itself: `npm run bench --json` starts the command without the option and only sets
 * `npm_config_json`.
 *
 * @throws MeshError `usage` with the command line that was meant
 */
function refuseSwallowed(command: Command, args: readonly string[], env: NodeJS.ProcessEnv): void {
  const [name = '', ...rest] = args;
  if (env.npm_lifecycle_event !== name) return;
  const options = [command, ...command.commands].flatMap((one) => one.options);
  const swallowed = options.flatMap(({ long }) => {
    const value = env[`npm_config_${long?.slice(2).replaceAll('-', '_')}`];
    // An option that is given twice, once in the right place, took effect.
    if (!long || !value || value === 'false' || NPM_OWN.includes(long.slice(2)) || rest.includes(long))
      return [];
    return [value === 'true' ? long : `${long} ${quoteShellWord(value)}`];
  });
  if (swallowed.length === 0) return;
  const words = [...new Set(swallowed)];
  // npm leaves the values of several options in an order of its own.
  const meant =
    words.length > 1 && rest.length > 0 ? [...words, '…'] : [...words, ...rest.map(quoteShellWord)];
  throw new MeshError(
    'usage',
    `npm keeps options for itself (${words.join(', ')}) unless they stand after --: npm run ${name} -- ${meant.join(' ')}`,
  );
}

/**
 * Refuses a name of a subcommand that does not exist: Commander counts it as an argument too many, and suggests nothing.
 *
 * @throws MeshError `usage` with the names that exist
 */
function refuseUnknown(command: Command, [word = '-']: readonly string[]): void {
  const names = command.commands.map((one) => one.name());
  if (names.length === 0 || word.startsWith('-') || names.includes(word)) return;
  throw new MeshError('usage', `${command.name()} has no command "${word}", only ${names.join(' and ')}`);
}

let isFailed = false;

/** Makes the process end with 1 instead of 0; returns false if it was called before. */
function failAtEnd(): boolean {
  if (isFailed) return false;
  isFailed = true;
  process.on('exit', () => {
    process.exitCode ||= EXIT.failed;
  });
  return true;
}

/** Codes of errors that may follow from the end of the command by its user, and are then not reported. */
const ENDED_WITH_US: ReadonlySet<ErrorCode> = new Set([
  'agent',
  'engine',
  'reply',
  'tool',
  'packet',
  'limit',
]);

/** Prints why a command failed, and returns its exit code. */
function reportFault(name: string, error: unknown): number {
  // Commander has printed the fault; help and version end here too, with 0.
  if (error instanceof CommanderError)
    return error.exitCode === 0 ? EXIT.done : toExitCode({ code: 'usage' });
  if (error instanceof MeshError) {
    if (isInterrupted() && ENDED_WITH_US.has(error.code)) {
      printError(`${name}: interrupted${resumption.hint('interrupted')}`);
      return EXIT.interrupted;
    }
    const option = error.setting === undefined ? '' : ` (--${error.setting})`;
    printError(`${name}: ${error.message}${option}${resumption.hint(error.code)}`);
    return toExitCode(error);
  }
  const fault = explainSystemFault(error);
  if (fault !== undefined) printError(`${name}: ${fault}${resumption.hint()}`);
  else printError(`${name}: ${(error instanceof Error ? error.stack : undefined) ?? String(error)}`);
  return EXIT.failed;
}

function isBug(error: unknown): boolean {
  const isExpected = error instanceof CommanderError || error instanceof MeshError;
  return !isExpected && explainSystemFault(error) === undefined;
}

/** Creates a parser that has the command that `args` name as a whole, and only the summaries of all others. */
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
    // Commander's messages repeat arguments.
    .configureOutput({ writeOut: printText, writeErr: (text) => printError(text.trimEnd()) })
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

/** Hides rarely used options from the help unless `showsAll` is set. */
function twoLevelHelp(showsAll: boolean): HelpConfiguration {
  const help = new Help();
  return {
    visibleOptions(command) {
      const common = showsAll ? undefined : findTable(command)?.common;
      return help
        .visibleOptions(command)
        .filter(
          ({ long }) =>
            common === undefined || long === '--help' || common.some((key) => toFlag(key) === long),
        );
    },
  };
}

/** Adds a last line to the help of `command` that says how to see the rest, if something is hidden. */
function explainHelp(command: Command, showsAll: boolean): void {
  if (showsAll) return;
  const all = new Help().visibleOptions(command).length;
  const shown = command.createHelp().visibleOptions(command).length;
  if (shown < all) command.addHelpText('after', `\nRun with --help --all to see all ${all} options.`);
  const commands = command.commands.length;
  if (command.createHelp().visibleCommands(command).length < commands)
    command.addHelpText('after', `\nRun with --help --all to see all ${commands} commands.`);
}
