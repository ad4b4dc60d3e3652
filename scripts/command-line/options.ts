import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import {
  checkOptionNeeds,
  type OptionTable,
  optionFacts,
  toFlag,
} from '@gaia-mesh/evaluation/plan/option-table.ts';
import { Argument, type Command, Option } from 'commander';
import * as z from 'zod';

/** The table of each command that has one. */
const tables = new WeakMap<Command, OptionTable>();

export const findTable = (command: Command): OptionTable | undefined => tables.get(command);

/** Gives `command` the options and arguments of `table`; `run` receives all of them as one parsed object. */
export function defineOptions<Schema extends z.ZodObject>(
  command: Command,
  table: OptionTable<Schema>,
  run: (options: z.output<Schema>) => void | Promise<void>,
): Command {
  tables.set(command, table);
  for (const [key, schema] of Object.entries(table.options.shape)) addOption(command, key, schema);
  return command.action(() => run(readOptions(command) as z.output<Schema>));
}

function addOption(command: Command, key: string, schema: z.core.$ZodType): void {
  const { value, help, no, isArgument, isHidden } = optionFacts.get(schema) ?? {};
  if (isArgument === true) {
    command.addArgument(new Argument(value ?? '', help));
    return;
  }
  const flag = toFlag(key);
  if (help !== undefined) {
    const { inner, isOptional, usual } = unwrap(schema);
    const option = new Option(value === undefined ? flag : `${flag} ${value}`, help);
    if (usual !== undefined) option.default(usual, Array.isArray(usual) ? usual.join(',') : undefined);
    if (isHidden === true) option.hideHelp();
    if (!isOptional) option.makeOptionMandatory();
    if (inner instanceof z.ZodArray && !option.variadic) option.argParser(collectTexts);
    // Help that names the choices does not list them again.
    if (inner instanceof z.ZodEnum && !inner.options.every((name) => help.includes(String(name))))
      option.argChoices = inner.options.map(String);
    if (option.optional && inner instanceof z.ZodEnum) option.preset(String(inner.options[0]));
    command.addOption(option);
    if (!(inner instanceof z.ZodArray)) noteTyped(command, key, flag);
  }
  if (no === undefined) return;
  const opposite = flag.replace('--', '--no-');
  command.addOption(new Option(opposite, no));
  noteTyped(command, key, opposite);
}

/** The options with one value that the user typed, by their keys: each as `--option value`. */
const typedOnce = new WeakMap<Command, Map<string, { flag: string; words: string }>>();

/**
 * Refuses an option that is given again with another value, or with its opposite: Commander would take the last one, and the first
 * would have no effect.
 */
function noteTyped(command: Command, key: string, flag: string): void {
  const seen = typedOnce.get(command) ?? new Map<string, { flag: string; words: string }>();
  typedOnce.set(command, seen);
  command.on(`option:${flag.slice(2)}`, (value: unknown) => {
    const words = typeof value === 'string' ? `${flag} ${value}` : flag;
    const before = seen.get(key);
    seen.set(key, { flag, words });
    if (before === undefined || before.words === words) return;
    throw new MeshError(
      'usage',
      before.flag === flag
        ? `${flag} is given twice, and only one of ${before.words} and ${words} can take effect: leave one out`
        : `${before.flag} and ${flag} contradict each other: leave one out`,
    );
  });
}

/** Returns the schema of the value that is typed, and the default that the help shows. */
function unwrap(schema: z.core.$ZodType): { inner: z.core.$ZodType; isOptional: boolean; usual?: unknown } {
  if (schema instanceof z.ZodOptional) return { inner: schema.unwrap(), isOptional: true };
  if (!(schema instanceof z.ZodDefault)) return { inner: schema, isOptional: false };
  const usual: unknown = schema.def.defaultValue;
  const isShown = Array.isArray(usual) ? usual.length > 0 : ['string', 'number'].includes(typeof usual);
  return { inner: schema.unwrap(), isOptional: true, usual: isShown ? usual : undefined };
}

const collectTexts = (text: string, before: unknown): string[] => [
  ...(Array.isArray(before) ? before : []),
  text,
];

/**
 * Parses what the user typed by the command's table.
 *
 * @throws MeshError `usage` for options that cannot take effect
 */
export function readOptions(command: Command): unknown {
  const table = findTable(command);
  if (table === undefined) throw new Error(`${command.name()} has no table of options`);
  refuseEarlyOptions(command);
  const typed = { ...listTypedOptions(command), ...listArguments(command, table) };
  refuseEmpty(command, typed);
  const parsed = table.options.safeParse(typed);
  if (!parsed.success) return command.error(explainIssue(command, typed, parsed.error.issues[0]));
  checkOptionNeeds(table, new Map(Object.entries(parsed.data).filter(([key]) => key in typed)));
  return parsed.data;
}

/**
 * Refuses empty values: `--out "$OUT"` without the variable would mean the current folder. A true answer may be unknown.
 */
function refuseEmpty(command: Command, typed: Record<string, unknown>): void {
  const [key] = Object.entries(typed).find(([name, value]) => value === '' && name !== 'answer') ?? [];
  if (key === undefined) return;
  const option = command.options.find((one) => one.attributeName() === key);
  command.error(
    `error: ${option === undefined ? `argument '${key}'` : `option '${option.flags}'`} is empty: give it a value, or leave it out (a variable of the shell may not be set)`,
  );
}

/**
 * Refuses options that stand before a subcommand: only the command above reads them.
 *
 * @throws MeshError `usage`
 */
function refuseEarlyOptions(command: Command): void {
  if (command.parent === null) return;
  const early = Object.keys(listTypedOptions(command.parent)).map(toFlag);
  if (early.length === 0) return;
  const subcommand = command.name();
  throw new MeshError(
    'usage',
    `${early.join(', ')} stands before ${subcommand} and has no effect there: write it after ${subcommand}, if ${subcommand} has it`,
  );
}

/** Returns the options that the user typed, by their keys. */
function listTypedOptions(command: Command): Record<string, unknown> {
  const keys = command.options.map((option) => option.attributeName());
  const typed = keys.filter((key) => command.getOptionValueSource(key) === 'cli');
  return Object.fromEntries(typed.map((key) => [key, command.getOptionValue(key)]));
}

function listArguments(command: Command, { options }: OptionTable): Record<string, unknown> {
  const shape = Object.entries(options.shape);
  const keys = shape.filter(([, schema]) => optionFacts.get(schema)?.isArgument === true);
  return Object.fromEntries(
    keys.map(([key], index): [string, unknown] => [key, command.processedArgs[index]]),
  );
}

/** Says which option has a value that cannot be used. */
function explainIssue(
  command: Command,
  typed: Record<string, unknown>,
  issue: z.core.$ZodIssue | undefined,
): string {
  const [key, index] = issue?.path ?? [];
  const option = command.options.find((one) => one.attributeName() === key);
  const value = typed[String(key)];
  const shown: unknown = Array.isArray(value) && typeof index === 'number' ? value[index] : value;
  return `error: option '${option?.flags ?? String(key)}' argument '${String(shown)}' is invalid. ${issue?.message}`;
}
