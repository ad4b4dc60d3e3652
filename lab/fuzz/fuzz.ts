import { randomInt } from 'node:crypto';
import { EXIT } from '@gaia-mesh/cli/command-line/exit-code.ts';
import { handleInterrupt } from '@gaia-mesh/cli/command-line/interruptible.ts';
import { defineOptions } from '@gaia-mesh/cli/command-line/options.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import {
  defineTable,
  flag,
  option,
  seconds,
  text,
  texts,
  wholeNumber,
} from '@gaia-mesh/evaluation/plan/option-table.ts';
import { print, printJson, printText } from '@gaia-mesh/evaluation/terminal/print.ts';
import { count, formatDecimals, formatTable } from '@gaia-mesh/evaluation/terminal/table.ts';
import { layerNames } from '@gaia-mesh/protocols/layers/registry.ts';
import { adapterNames } from '@gaia-mesh/protocols/registry.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { createAdapterTarget, createLayerTarget } from './codecs.ts';
import { doors } from './doors.ts';
import { framing } from './framing.ts';
import { handshake } from './handshake.ts';
import { hub } from './hub.ts';
import { readers } from './readers.ts';
import type { Failure, FuzzTarget } from './target.ts';
import { volume } from './volume.ts';

const fuzzTable = defineTable({
  options: z.object({
    minutes: option('<n>', 'time for all targets', seconds.default(1)),
    seed: option(
      '<n>',
      'the same cases as with this seed (default: a random one, which is printed)',
      wholeNumber.optional(),
    ),
    target: option('<name...>', 'only these, e.g. framing, adapter:json, layer', texts.default([])),
    path: option(
      '<path>',
      'only the case that a failure printed, with its --target and --seed',
      text.optional(),
    ),
    json: flag('print the results as one JSON value'),
  }),
});

export function fuzz(command: Command): void {
  defineOptions(command, fuzzTable, run);
}

/**
 * Feeds hostile bytes to everything that reads bytes, for `minutes`, and reports failures. Exit code 1 if
 * there are any.
 */
async function run(options: z.output<typeof fuzzTable.options>): Promise<void> {
  const targets = findTargets(options.target);
  const seed = options.seed ?? randomInt(1, SEEDS);
  if (seed >= SEEDS) throw new MeshError('usage', `--seed: expected a whole number below ${SEEDS}`);
  const { minutes, path } = options;
  const [first, ...others] = targets;
  if (path !== undefined && (options.seed === undefined || first === undefined || others.length > 0)) {
    throw new MeshError('usage', '--path: it is of one --target and one --seed, as a failure prints them');
  }
  console.error(`seed ${seed}, ${targets.length} targets, ${minutes} minutes`);
  const { signal } = handleInterrupt('the fuzzing');
  const reports =
    path !== undefined && first !== undefined
      ? [await replayCase(first, seed, path)]
      : await runCampaign(targets, { seed, minutes, signal });
  if (options.json) printJson({ seed, minutes, targets: reports });
  else printReports(reports);
  if (reports.some((report) => report.failure !== null)) process.exitCode = 1;
  else if (signal.aborted) process.exitCode = EXIT.interrupted;
}

function printReports(reports: readonly TargetReport[]): void {
  const rows = reports.map(({ name, runs, seconds, failure }) => [
    failure === null ? '✓' : '✗',
    name,
    count(runs),
    formatDecimals(seconds, 1),
    count(runs / Math.max(seconds, 0.001)),
  ]);
  printText(`${formatTable([['', 'target', 'runs', 'seconds', 'runs/s'], ...rows])}\n`);
  for (const { name, failure } of reports)
    if (failure !== null) for (const line of formatFailure(name, failure)) print(line);
}

function formatFailure(name: string, { seed, path, counterexample, reason }: Failure): string[] {
  const again = `npm run fuzz -- --target ${name} --seed ${seed} --path ${path}`;
  return ['', `${name}: ${reason}`, `case: ${counterexample}`, `again: ${again}`];
}

interface TargetReport {
  readonly name: string;
  readonly runs: number;
  readonly seconds: number;
  readonly failure: Failure | null;
}

/** Cases of a target per turn: few, so that the slowest target does not hold up the others for long. */
const BATCH_RUNS = 40;

/** Upper bound of seeds, which are whole numbers from 0. */
export const SEEDS = 2 ** 31;

/**
 * Fuzzes all targets for `minutes` in total. The target with the least time so far has the next turn; each
 * has at least one. The n-th batch of every target has the n-th seed, so the same seed gives the same cases,
 * however long it goes on. A target that fails is finished.
 */
export async function runCampaign(
  targets: readonly FuzzTarget[],
  { seed, minutes, signal }: { seed: number; minutes: number; signal: AbortSignal },
): Promise<TargetReport[]> {
  const endMs = performance.now() + minutes * 60_000;
  const turns = targets.map((target) => new Turns(target, seed));
  for (;;) {
    if (signal.aborted) break;
    const open = turns.filter((turn) => turn.failure === null);
    const next = open.reduce<Turns | undefined>(
      (least, turn) => (least === undefined || turn.spentMs < least.spentMs ? turn : least),
      undefined,
    );
    if (next === undefined || (performance.now() > endMs && next.batches > 0)) break;
    await next.take();
  }
  return turns.map((turn) => turn.report());
}

/** Repeats one case of `target` and its shrinking, as a failure named it. */
export async function replayCase(target: FuzzTarget, seed: number, path: string): Promise<TargetReport> {
  const beganMs = performance.now();
  const { runs, failure } = await target.fuzz({ seed, runs: 1, path });
  return { name: target.name, runs, seconds: Math.round(performance.now() - beganMs) / 1000, failure };
}

class Turns {
  readonly #target: FuzzTarget;
  readonly #seed: number;
  #runs = 0;
  spentMs = 0;
  batches = 0;
  failure: Failure | null = null;

  constructor(target: FuzzTarget, seed: number) {
    this.#target = target;
    this.#seed = seed;
  }

  async take(): Promise<void> {
    const beganMs = performance.now();
    const seed = (this.#seed + this.batches) % SEEDS;
    const { runs, failure } = await this.#target.fuzz({ seed, runs: BATCH_RUNS });
    this.batches += 1;
    this.#runs += runs;
    this.failure = failure;
    this.spentMs += performance.now() - beganMs;
  }

  report(): TargetReport {
    const seconds = Math.round(this.spentMs) / 1000;
    return { name: this.#target.name, runs: this.#runs, seconds, failure: this.failure };
  }
}

/** Stacks of each kind: compressed, signed, encrypted, and all at once. */
const STACKS = [
  'json+zstd',
  'cbor+deflate-dict+crc32c',
  'json+ed25519',
  'toon+brotli+aes-256-gcm',
  'msgpack+zstd-dict+ed25519+chacha20-poly1305+crc32c',
];

export const fuzzTargets: readonly FuzzTarget[] = [
  framing,
  ...adapterNames.map((name) => createAdapterTarget(`adapter:${name}`, name)),
  ...layerNames.map(createLayerTarget),
  ...STACKS.map((spec) => createAdapterTarget(`stack:${spec}`, spec)),
  handshake,
  hub,
  volume,
  ...readers,
  ...doors,
];

/**
 * Returns the targets that `names` choose, each by its whole name or by the part before the colon; all
 * without names.
 *
 * @throws MeshError `usage` for a name that chooses none
 */
export function findTargets(names: readonly string[]): readonly FuzzTarget[] {
  const chosen = new Set<FuzzTarget>();
  for (const name of names) {
    const found = fuzzTargets.filter((target) => target.name === name || target.name.startsWith(`${name}:`));
    if (found.length === 0) {
      const known = fuzzTargets.map((target) => target.name).join(', ');
      throw new MeshError('usage', `--target: unknown target "${name}"; known: ${known}`);
    }
    for (const target of found) chosen.add(target);
  }
  return names.length === 0 ? fuzzTargets : [...chosen];
}
