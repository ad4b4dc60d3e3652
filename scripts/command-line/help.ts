import { type Command, Help, type HelpConfiguration } from 'commander';

/** The most used options of commands with many: `--help` shows these, and `--help --all` every option. */
const commonOptions = new WeakMap<Command, ReadonlySet<string>>();

/** Names the options of `command` that `--help` shows, without their dashes. */
export function showInHelp(command: Command, names: readonly string[]): Command {
  commonOptions.set(command, new Set(names));
  return command;
}

/** Hides rarely used options from the help unless `showsAll` is set. */
export function twoLevelHelp(showsAll: boolean): HelpConfiguration {
  const help = new Help();
  return {
    visibleOptions(command) {
      const common = showsAll ? undefined : commonOptions.get(command);
      return help
        .visibleOptions(command)
        .filter(({ long }) => common === undefined || long === '--help' || common.has(long?.slice(2) ?? ''));
    },
  };
}

/** Adds a last line to the help of `command` that says how to see the rest, if something is hidden. */
export function explainHelp(command: Command, showsAll: boolean): void {
  if (showsAll) return;
  const all = new Help().visibleOptions(command).length;
  const shown = command.createHelp().visibleOptions(command).length;
  if (shown < all) command.addHelpText('after', `\nRun with --help --all to see all ${all} options.`);
  const commands = command.commands.length;
  if (command.createHelp().visibleCommands(command).length < commands)
    command.addHelpText('after', `\nRun with --help --all to see all ${commands} commands.`);
}
