import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { NETWORK_FORMS, type Network, parseNetwork } from '@gaia-mesh/core/transports/network/network.ts';
import type { Stack, StackSettings, TlsIdentity } from '@gaia-mesh/stacks/contract/stack.ts';
import { findStackEntries, listStackNames, type StackEntry } from '@gaia-mesh/stacks/registry.ts';
import { parseFileName, readStacks } from '../../teams/user-files.ts';
import type { StackRef } from './peers/protocol.ts';

/** All settings of two ends, in plain values; the certificate is created for the session. */
interface ArmSettings extends Omit<StackSettings, 'tls'> {
  readonly tls: boolean;
  /** Milliseconds that the work for an answer takes. */
  readonly workMs: number;
  /** Bytes of each payload, in both directions; null keeps the payloads of the traffic. */
  readonly size: number | null;
  /** The network between the ends; null for the loopback alone. */
  readonly network: Network | null;
}

/**
 * Default settings. Sixteen connections are enough for sixteen concurrent exchanges on transports that cannot multiplex; idle connections
 * outlive the rounds, since a reconnect is a factor of its own.
 */
const DEFAULT_SETTINGS: ArmSettings = {
  tls: false,
  connections: 16,
  keepAliveMs: 60_000,
  deadlineMs: 30_000,
  workMs: 0,
  size: null,
  network: null,
};

/** Bounds of a payload: the smallest is `{"text":"…"}` with some text; the largest still passes often enough to be timed. */
const SIZE_RANGE = [64, 1024 * 1024] as const;
const MAX_LEVELS = 16;

/** A factor that arms differ in: each level sets options of the stacks that support it. */
interface SettingFactor {
  readonly expected: string;
  /** Returns the settings of a level; undefined for an invalid level. */
  set(level: string): Partial<ArmSettings> | undefined;
  /** Returns the reason why a stack lacks a level; undefined if it has it. */
  unsupportedReason(stack: Stack, level: string): string | undefined;
}

const anywhere = () => undefined;

/** Returns the reason why a stack does not take a setting of its connections. */
function explainFixed({ traits }: Stack, setting: keyof StackSettings): string | undefined {
  return traits.fixed?.some((own) => own === setting)
    ? 'its implementation decides that by itself'
    : undefined;
}

const SETTING_FACTORS: Readonly<Record<string, SettingFactor>> = {
  tls: {
    expected: 'on or off',
    set: (level) => parseOnOff(level, (tls) => ({ tls })),
    unsupportedReason: ({ traits }, level) =>
      level === 'on' && !traits.hasTls ? 'it has no TLS' : undefined,
  },
  connections: {
    expected: 'a number from 1 to 256',
    set: (level) => parseWhole(level, [1, 256], (connections) => ({ connections })),
    unsupportedReason: (stack) =>
      stack.transport === 'stdio' ? 'it has one pair of pipes' : explainFixed(stack, 'connections'),
  },
  keepalive: {
    expected: 'milliseconds from 0 to 600000',
    set: (level) => parseWhole(level, [0, 600_000], (keepAliveMs) => ({ keepAliveMs })),
    unsupportedReason: (stack) =>
      stack.transport === 'stdio' ? 'its pipes stay open' : explainFixed(stack, 'keepAliveMs'),
  },
  work: {
    expected: 'milliseconds from 0 to 10000',
    set: (level) => parseWhole(level, [0, 10_000], (workMs) => ({ workMs })),
    unsupportedReason: anywhere,
  },
  network: {
    expected: `none, ${NETWORK_FORMS}`,
    set(level) {
      const network = parseNetwork(level);
      return network === undefined ? undefined : { network };
    },
    unsupportedReason: ({ transport }) =>
      transport === 'stdio' || transport === 'unix' ? 'its ends are on one machine' : undefined,
  },
  size: {
    expected: `bytes from ${SIZE_RANGE[0]} to ${SIZE_RANGE[1]}`,
    set: (level) => parseWhole(level, SIZE_RANGE, (size) => ({ size })),
    unsupportedReason: ({ traits: { largestMessageBytes } }, level) =>
      Number(level) * 2 + 4096 > (largestMessageBytes ?? Number.POSITIVE_INFINITY)
        ? `it takes messages of at most ${largestMessageBytes} bytes`
        : undefined,
  },
};

/** The parsed `--factor` options: levels of settings by factor, and the concurrencies at which every arm is measured. */
interface Factors {
  readonly settings: ReadonlyMap<string, readonly string[]>;
  readonly concurrency: readonly number[];
}

const DEFAULT_CONCURRENCY = [1, 4, 16, 64];

/** A measured configuration of a stack: one implementation with one level of every factor. */
export interface Arm {
  /** `a2a/jsonrpc sdk tls=on` */
  readonly name: string;
  readonly stack: StackRef;
  /** `sdk`; of a client and a server in different languages `sdk→python`. */
  readonly implementation: string;
  readonly protocol: string;
  readonly transport: string;
  readonly settings: ArmSettings;
  /** Level of each requested factor. */
  readonly levels: Readonly<Record<string, string>>;
}

/** A stack and, if the user supplied it, its file. */
interface ChosenStack {
  readonly stack: Stack;
  /** The stack whose server it is a client of, if that is in another language. */
  readonly server?: Stack | undefined;
  readonly file?: string | undefined;
}

interface Arms {
  readonly arms: readonly Arm[];
  /** Requested arms that do not exist, with the reason: `mcp/stdio sdk tls=on: it has no TLS`. */
  readonly leftOut: readonly string[];
  /** The concurrencies at which every arm is measured. */
  readonly concurrency: readonly number[];
}

/** Maximum arms. Each takes five fresh pairs of processes; with more arms, none would be measured long enough. */
const MAX_ARMS = 64;

/**
 * Combines every stack with every combination of levels. Levels that a stack lacks are listed as left out; a factor of which it has no
 * level is not varied for it, so that it can still be compared with stacks that have it.
 *
 * @param texts levels of factors, as `--factor` takes them, and `network` as `--network` does
 * @throws MeshError `usage` for an unknown factor or level, for a factor that no stack takes, and if there are too many arms to measure
 */
export function combineArms(
  chosen: readonly ChosenStack[],
  texts: readonly string[] = [],
  network?: string,
): Arms {
  const { settings: factors, concurrency } = parseFactors(texts, network);
  const leftOut: string[] = [];
  const arms = chosen.flatMap(({ stack, server = stack, file }): Arm[] => {
    const { name, protocol, transport } = stack;
    const implementation =
      server === stack ? stack.implementation : `${stack.implementation}→${server.implementation}`;
    const own = [...factors].flatMap(([factor, levels]) => {
      const lacks = levels.map(
        (level) => explainUnsupported(stack, factor, level) ?? explainUnsupported(server, factor, level),
      );
      lacks.forEach((lack, index) => {
        if (lack !== undefined) leftOut.push(`${name} ${implementation} ${factor}=${levels[index]}: ${lack}`);
      });
      const had = levels.filter((_, index) => lacks[index] === undefined);
      return had.length > 0 || factor === 'size' ? [[factor, had] as const] : [];
    });
    return combineLevels(own).map((levels) => ({
      name: [`${name} ${implementation}`, ...Object.entries(levels).map((pair) => pair.join('='))].join(' '),
      stack: { name, implementation: stack.implementation, server: server.implementation, file },
      implementation,
      protocol,
      transport,
      settings: resolveSettings(levels),
      levels,
    }));
  });
  for (const factor of factors.keys()) {
    if (arms.length === 0 || arms.some(({ levels }) => levels[factor] !== undefined)) continue;
    const flag = factor === 'network' ? '--network' : `--factor ${factor}`;
    const reasons = leftOut.filter((reason) => reason.includes(` ${factor}=`));
    throw new MeshError('usage', `${flag} has no effect: ${reasons.join('; ')}`);
  }
  if (arms.length > MAX_ARMS) {
    throw new MeshError(
      'usage',
      `${chosen.length} stacks with all combinations of levels are ${arms.length} arms: at most ${MAX_ARMS} can be compared; name fewer stacks or levels`,
    );
  }
  return { arms, leftOut, concurrency };
}

function combineLevels(factors: readonly (readonly [string, readonly string[]])[]): Record<string, string>[] {
  return factors.reduce<Record<string, string>[]>(
    (combinations, [name, levels]) =>
      combinations.flatMap((before) => levels.map((level) => ({ ...before, [name]: level }))),
    [{}],
  );
}

/**
 * Parses `--factor NAME=LEVEL,LEVEL`, one factor in each text, and `--network`, which is a factor of one level.
 *
 * @throws MeshError `usage` for an unknown factor or level
 */
function parseFactors(texts: readonly string[], network?: string): Factors {
  const given = new Map<string, readonly string[]>(network === undefined ? [] : [['network', [network]]]);
  for (const text of texts) {
    const [name = '', list] = text.split(/=(.*)/s);
    const levels = [...new Set((list ?? '').split(',').filter((level) => level !== ''))];
    if (levels.length === 0)
      throw new MeshError('usage', `--factor: expected NAME=LEVEL,LEVEL, not "${text}"`);
    if (levels.length > MAX_LEVELS)
      throw new MeshError(
        'usage',
        `--factor ${name}: expected at most ${MAX_LEVELS} levels, got ${levels.length}`,
      );
    if (given.has(name)) throw new MeshError('usage', `--factor ${name}: given twice`);
    given.set(name, levels);
  }
  const concurrency = given
    .get('concurrency')
    ?.map(
      (level) =>
        parseWhole(level, [1, 256], Number) ?? refuse('concurrency', level, 'a number from 1 to 256'),
    );
  given.delete('concurrency');
  for (const [name, levels] of given) {
    const factor = SETTING_FACTORS[name];
    if (factor === undefined) {
      const known = [...Object.keys(SETTING_FACTORS), 'concurrency'].join(', ');
      throw new MeshError('usage', `--factor ${name}: unknown factor; expected one of ${known}`);
    }
    for (const level of levels) if (factor.set(level) === undefined) refuse(name, level, factor.expected);
  }
  return { settings: given, concurrency: concurrency ?? DEFAULT_CONCURRENCY };
}

/** Returns the reason why a stack lacks a level; undefined if it has it. */
function explainUnsupported(stack: Stack, factor: string, level: string): string | undefined {
  return SETTING_FACTORS[factor]?.unsupportedReason(stack, level);
}

/** Returns the settings that an arm's levels select. */
function resolveSettings(levels: Readonly<Record<string, string>>): ArmSettings {
  const settings = { ...DEFAULT_SETTINGS };
  for (const [name, level] of Object.entries(levels)) {
    Object.assign(settings, SETTING_FACTORS[name]?.set(level));
  }
  return settings;
}

/** Converts the settings to those that a stack takes. */
export function toStackSettings(
  { tls, workMs: _workMs, size: _size, network: _network, ...settings }: ArmSettings,
  identity: TlsIdentity | null,
): StackSettings {
  return { ...settings, tls: tls ? identity : null };
}

function refuse(name: string, level: string, expected: string): never {
  throw new MeshError('usage', `--factor ${name}: expected ${expected}, not "${level}"`);
}

function parseOnOff<T>(level: string, set: (isOn: boolean) => T): T | undefined {
  return level === 'on' || level === 'off' ? set(level === 'on') : undefined;
}

function parseWhole<T>(
  level: string,
  [low, high]: readonly [number, number],
  set: (value: number) => T,
): T | undefined {
  const value = Number(level);
  return /^\d+$/.test(level) && value >= low && value <= high ? set(value) : undefined;
}

const ALL_STACKS = 'all';
/** The adapter in our own frames that the others are compared with. */
const OWN = 'mesh/json';

/** The stacks that names refer to. */
interface StackCatalog {
  readonly names: readonly string[];
  /** @throws MeshError `usage` if no stack has this name */
  findStackEntries(name: string): readonly StackEntry[];
}

const shipped: StackCatalog = { names: [OWN, ...listStackNames()], findStackEntries };

interface Choice {
  /** Names as `--stacks` takes them: stacks, the user's files, or `all`; the baseline is first. */
  readonly names: readonly string[];
  readonly implementations: readonly string[];
}

interface Chosen {
  readonly chosen: readonly ChosenStack[];
  /** Stacks of `all` whose packages are not installed, and implementations that a stack lacks. */
  readonly leftOut: readonly string[];
}

/**
 * Resolves the requested stacks in the order of their names, each once.
 *
 * @throws MeshError `usage` for an unknown name, `config` if packages of named stacks are missing
 */
export async function chooseStacks(
  { names, implementations }: Choice,
  known: StackCatalog = shipped,
): Promise<Chosen> {
  const chosen = new Map<string, ChosenStack>();
  const leftOut: string[] = [];
  const lacking: { readonly id: string; readonly packages: readonly string[]; readonly error: MeshError }[] =
    [];
  for (const name of names) {
    const isAll = name === ALL_STACKS;
    const file = parseFileName(name) === undefined ? undefined : resolveUserPath(name);
    const found =
      file === undefined
        ? (isAll ? known.names : [name]).flatMap((one) => known.findStackEntries(one))
        : readStacks(file).map(toStackEntry);
    const own = found.filter(({ implementation }) => implementations.includes(implementation));
    if (own.length === 0) leftOut.push(`${name}: it has no implementation ${implementations.join(' or ')}`);
    for (const entry of own) {
      const id = `${entry.name} ${entry.implementation}`;
      if (chosen.has(id)) continue;
      try {
        const stack = await entry.load();
        chosen.set(id, { stack, file });
      } catch (error) {
        if (!(error instanceof MeshError)) throw error;
        if (isAll) leftOut.push(`${id}: ${error.message}`);
        else if (entry.packages === undefined) throw error;
        else lacking.push({ id, packages: entry.packages, error });
      }
    }
  }
  const [first, ...others] = lacking;
  // One line installs all that is missing, before anything is measured.
  if (first !== undefined && others.length === 0) throw first.error;
  if (first !== undefined) {
    const packages = [...new Set(lacking.flatMap((one) => one.packages))];
    throw new MeshError(
      'config',
      `--stacks ${lacking.map(({ id }) => id).join(', ')} need packages that are not installed: npm install ${packages.join(' ')}`,
      { cause: first.error },
    );
  }
  return { chosen: [...chosen.values()].flatMap((one, _, all) => [one, ...mixLanguages(one, all)]), leftOut };
}

/** Returns a stack's clients of the servers in other languages, one of the two ends being the SDK's for JavaScript. */
function mixLanguages({ stack, file }: ChosenStack, all: readonly ChosenStack[]): readonly ChosenStack[] {
  if (file !== undefined || stack.implementation === 'bare') return [];
  const others = all.filter(
    (other) =>
      other.file === undefined &&
      other.stack.name === stack.name &&
      other.stack.implementation !== stack.implementation &&
      other.stack.implementation !== 'bare' &&
      [stack, other.stack].some(({ implementation }) => implementation === 'sdk'),
  );
  return others.map((other) => ({ stack, server: other.stack }));
}

function toStackEntry(stack: Stack): StackEntry {
  return { ...stack, load: async () => stack };
}
