import { statSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import * as z from 'zod';

/**
 * All options of a command: one object schema, from which the command line is parsed and its help is printed. A key is the
 * option's name in camel case, and the parsed object is passed on as it is.
 */
export interface OptionTable<Schema extends z.ZodObject = z.ZodObject> {
  readonly options: Schema;
  /** The options that `--help` shows; all if there are few. `--help --all` shows every option. */
  readonly common?: readonly Key<Schema>[];
  readonly needs?: readonly OptionNeed<Key<Schema>>[];
}

/**
 * Options that take effect only with or without others. An option without effect is refused by name, since its user would
 * believe that it had shaped the result.
 */
export interface OptionNeed<Key extends string = string> {
  readonly options: readonly Condition<Key>[];
  /** One of these makes the options take effect. */
  readonly needs?: readonly Condition<Key>[];
  /** Each of these takes the effect away, unless one of `unless` is given. */
  readonly excludes?: readonly Condition<Key>[];
  readonly unless?: readonly Condition<Key>[];
  /** The reason, as the end of a sentence. */
  readonly why: string;
}

/** An option that is given (`tasks`), an option with this value (`format=wtq`), or a number above this one (`repeat>1`). */
type Condition<Key extends string> = Key | `${Key}=${string}` | `${Key}>${number}`;

type Key<Schema extends z.ZodObject> = keyof z.output<Schema> & string;

/** Returns the table, whose keys the compiler checks. */
export const defineTable = <Schema extends z.ZodObject>(table: OptionTable<Schema>): OptionTable<Schema> =>
  table;

/** The facts of an option besides its schema. */
interface OptionFacts {
  /** The value in the help, `<n>`, or `[port]` for one that may be left out; undefined for a switch. */
  readonly value?: string | undefined;
  /** Undefined for an option that has only the form with `--no-`. */
  readonly help?: string;
  /** Help of the form with `--no-`. */
  readonly no?: string;
  /** True for a value without a flag, in the order of the table. */
  readonly isArgument?: boolean;
  readonly isHidden?: boolean;
  /** The engine option, e.g. `tool_calls`, that this option sets for all agents with a model server. */
  readonly engineOption?: string;
}

/** Facts of the schemas in option tables. */
export const optionFacts: z.core.$ZodRegistry<OptionFacts> = z.registry<OptionFacts>();

function describe<Schema extends z.ZodType>(schema: Schema, facts: OptionFacts): Schema {
  // Schemas are shared: facts of one option must not become those of another.
  const own = schema.clone();
  optionFacts.add(own, facts);
  return own;
}

/** An option with a value, or a switch without; one whose schema is an array may be repeated. */
export const option = <Schema extends z.ZodType>(
  value: string | undefined,
  help: string,
  schema: Schema,
  more: OptionFacts = {},
): Schema => describe(schema, { value, help, ...more });

/** A switch that is off unless it is given. */
export const flag = (help: string): z.ZodDefault<z.ZodBoolean> =>
  describe(z.boolean().default(false), { help });

/** A switch that is on unless its form with `--no-` is given. */
export const noFlag = (no: string): z.ZodDefault<z.ZodBoolean> => describe(z.boolean().default(true), { no });

/** A value without a flag; `[values...]` stands for several. */
export const argument = <Schema extends z.ZodType>(value: string, help: string, schema: Schema): Schema =>
  describe(schema, { value, help, isArgument: true });

/** Schemas of values. Each parses what the user typed; its message ends the sentence that begins with the option's name. */

export const text: z.ZodString = z.string();

export const texts: z.ZodArray<z.ZodString> = z.array(z.string());

/** Splits `1, 2` into [`1`, `2`]. */
export const commaList = z
  .string()
  .transform((list) =>
    list
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  )
  .refine((items) => new Set(items).size === items.length, 'expected each of them once.');

export const choice = <const Values extends readonly string[]>(values: Values) =>
  z.enum(values, `Allowed choices are ${values.join(', ')}.`);

export const wholeNumber = parseNumber('expected a whole number from 1.', (value) => value >= 1, 'whole');

/** Returns the schema of a number above 0, whose unit its message names. */
export const amount = (unit: string, most = Number.POSITIVE_INFINITY) =>
  parseNumber(
    `expected ${unit}, above 0${most === Number.POSITIVE_INFINITY ? '' : ` and at most ${most}`}.`,
    (value) => value > 0 && value <= most,
  );

export const seconds = amount('seconds', 86_400);

/** Returns the schema of a port from `least` on. */
export const portFrom = (least: number, most = 65_535) =>
  parseNumber(
    `expected a port from ${least} to ${most}.`,
    (value) => value >= least && value <= most,
    'whole',
  );

export const port = portFrom(1);

export const portBase = z.union([z.literal('auto'), port], 'expected a port from 1 to 65535, or auto.');

/** Returns a schema of numbers; an empty text is not one. */
function parseNumber(message: string, isAllowed: (value: number) => boolean, kind?: 'whole') {
  return z
    .string()
    .transform((typed) => (typed.trim() === '' ? Number.NaN : Number(typed)))
    .refine(
      (value) =>
        Number.isFinite(value) && isAllowed(value) && (kind === undefined || Number.isSafeInteger(value)),
      message,
    );
}

/** Schemas of paths for results, which are checked before the work begins. */
export const output = {
  file: z.string().superRefine(checkOutput('file', 'it is a folder: name a file.')),
  /** A folder, which is made if it is missing. */
  folder: z.string().superRefine(checkOutput('folder', 'it is a file: name a folder.')),
};

/** Returns a check that an output path is of this kind, or is free and can be created below an existing folder. */
function checkOutput(kind: 'file' | 'folder', message: string) {
  return (typed: string, context: z.RefinementCtx) => {
    const place = resolveUserPath(typed);
    let at = place;
    let found = statSync(at, { throwIfNoEntry: false });
    for (; found === undefined; found = statSync(at, { throwIfNoEntry: false })) at = path.dirname(at);
    const isFolder = found.isDirectory();
    if (at !== place && !isFolder) context.addIssue(`${at} is a file, and no folder can be made in it.`);
    else if (at === place && isFolder !== (kind === 'folder')) context.addIssue(message);
  };
}

/** The address of a store. A password in it is refused with an error of our own, since the schema's would repeat the password. */
export const storeAddress = output.file.transform((address) => {
  const url = /^postgres(ql)?:/i.test(address) ? URL.parse(address) : null;
  if (url === null || url.password === '') return address;
  throw new MeshError(
    'usage',
    '--store: every user of this machine can read a password on a command line: leave it out of the address, and set ' +
      'PGPASSWORD in the environment (or add it to ~/.pgpass)',
  );
});

/** Returns the flag of a key: `baseUrl` is `--base-url`. */
export const toFlag = (key: string): string =>
  `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/**
 * Refuses options that cannot take effect beside the others, all in one message.
 *
 * @param given the values that the user typed, by their keys
 * @throws MeshError `usage`
 */
export function checkOptionNeeds(table: OptionTable, given: ReadonlyMap<string, unknown>): void {
  const { needs = [], options } = table;
  const isShown = (condition: string) => {
    const schema = options.shape[parseCondition(condition).key];
    return schema === undefined || optionFacts.get(schema)?.isHidden !== true;
  };
  const faults = needs.flatMap((need) => explainLack(need, given, isShown) ?? []);
  if (faults.length > 0) throw new MeshError('usage', faults.join('; '));
}

/** Says which options of a need have no effect, and why; undefined if they have one, or are not given. */
function explainLack(
  { options, needs, excludes = [], unless = [], why }: OptionNeed,
  given: ReadonlyMap<string, unknown>,
  isShown: (condition: string) => boolean,
): string | undefined {
  const holds = (condition: string) => isGiven(condition, given);
  const typed = options.filter(holds);
  if (typed.length === 0 || unless.some(holds)) return undefined;
  const named = typed.map(formatCondition).join(', ');
  if (needs !== undefined && !needs.some(holds))
    return `${named} ${typed.length > 1 ? 'have no effect alone: they go' : 'has no effect alone: it goes'} with ${needs.filter(isShown).map(formatCondition).join(' or ')} (${why})`;
  const excluding = excludes.find(holds);
  return (
    excluding &&
    `${named} ${typed.length > 1 ? 'do' : 'does'} not go with ${formatCondition(excluding)} (${why})`
  );
}

function parseCondition(condition: string) {
  const [, key = '', operator, value = ''] = /^(\w+)(?:([=>])(.*))?$/.exec(condition) ?? [];
  return { key, operator, value };
}

function isGiven(condition: string, given: ReadonlyMap<string, unknown>): boolean {
  const { key, operator, value } = parseCondition(condition);
  if (operator === undefined) return given.has(key);
  const found = given.get(key);
  return operator === '=' ? String(found) === value : typeof found === 'number' && found > Number(value);
}

function formatCondition(condition: string): string {
  const { key, operator, value } = parseCondition(condition);
  const name = toFlag(key);
  if (operator === '=') return value === 'false' ? name.replace('--', '--no-') : `${name} ${value}`;
  return operator === '>' && value !== '0' ? `${name} above ${value}` : name;
}
