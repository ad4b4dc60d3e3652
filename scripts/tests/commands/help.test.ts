import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { createParser } from '../../command-line/program.ts';
import { commands } from '../../commands.ts';
import { callCli } from '../../testing/call-cli.ts';

const program = { name: 'gaia-mesh', description: '', commands };

/** A command and its subcommands, as the parser has them when its help is asked for. */
async function commandsOf(name: string, ...flags: string[]): Promise<readonly Command[]> {
  const parser = await createParser(program, [name, '--help', ...flags]);
  const command = parser.commands.find((one) => one.name() === name);
  return command === undefined ? [] : [command, ...command.commands];
}

const everyCommand = (await Promise.all(commands.map(({ name }) => commandsOf(name)))).flat();

/** Verbs with which lines of the help begin. */
const VERBS = new Set(
  (
    'add allow analyse answer ask begin browse carry check choose compare connect continue count delete deliver disconnect ' +
    'display encode estimate exit export fetch find ignore import inject install keep let limit link listen list measure offer open ' +
    'print read receive record refuse repeat replace replay restart reuse review route run sample save score send serve set show skip ' +
    'start stop submit think try use vary wait write output'
  ).split(' '),
);

describe('the help', () => {
  test('shows at most 14 commands, and says how to see all', async () => {
    const parser = await createParser(program, ['--help']);

    expect(parser.createHelp().visibleCommands(parser).length).toBeLessThanOrEqual(14);
    const { code, stdout } = await callCli(['--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      new RegExp(`\nRun with --help --all to see all ${commands.length} commands\\.\n$`),
    );
    const all = await callCli(['--help', '--all']);
    for (const { name } of commands) expect(all.stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
  });

  test.each(everyCommand.map((command) => [command.name(), command] as const))(
    'of %s shows at most 16 options, each in at most ten words that begin with a verb',
    (_name, command) => {
      const help = command.createHelp();
      expect(help.visibleOptions(command).length).toBeLessThanOrEqual(16);
      const described = [...command.options, ...command.registeredArguments].map(
        ({ description }) => description,
      );
      for (const text of [command.description(), ...described]) {
        const words = text.split(/\s+/);
        expect(words.length, text).toBeLessThanOrEqual(10);
        expect(VERBS, text).toContain(words[0]);
      }
    },
  );

  test('of bench shows every option with --all, and without it says how many there are', async () => {
    const [bench] = await commandsOf('bench', '--all');
    const { stdout } = await callCli(['bench', '--help', '--all']);
    for (const { long } of bench?.options ?? []) expect(stdout).toContain(`  ${long} `);
    expect(stdout).not.toContain('Run with --help --all');

    const short = await callCli(['bench', '--help']);
    expect(short.stdout).not.toContain('--fault-seed');
    const count = (bench?.options.length ?? 0) + 1;
    expect(short.stdout).toMatch(new RegExp(`\nRun with --help --all to see all ${count} options\\.\n$`));
  });
});
