import { randomInt } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import { EXIT } from '@gaia-mesh/cli/command-line/exit-code.ts';
import { handleInterrupt } from '@gaia-mesh/cli/command-line/interruptible.ts';
import { defineOptions } from '@gaia-mesh/cli/command-line/options.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { parseFaults } from '@gaia-mesh/core/hub/faults/parse-faults.ts';
import { defineTable, flag, option, seconds, wholeNumber } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { createStyles, print, printJson, printText } from '@gaia-mesh/evaluation/terminal/print.ts';
import { ProgressBar } from '@gaia-mesh/evaluation/terminal/progress-bar.ts';
import { count, formatDecimals, formatPercent, formatTable } from '@gaia-mesh/evaluation/terminal/table.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { drawInjectedFaults, type RoundReport, runSoakRound } from './soak-round.ts';
import { Swarm } from './swarm.ts';
import { SYNTHETIC_TOOL } from './synthetic-agent.ts';

/** Memory counts as settled after the first minute; in a run shorter than two minutes, after half of it. */
const SETTLED_PART = 0.5;
const SETTLED_SECONDS = 60;
/** Maximum growth of memory in a run that lasts, as a fraction. */
const MAX_GROWTH = 0.1;

interface MemoryGrowth {
  /** Bytes at rest when memory had settled and at the end, and the growth as a fraction of the first. */
  readonly early: number;
  readonly late: number;
  readonly growth: number;
  /** Maximum that was seen under load. */
  readonly peak: number;
}

const soakTable = defineTable({
  options: z.object({
    minutes: option('<n>', 'time for all rounds, at most', seconds.default(2)),
    packets: option('<n>', 'packets for all rounds, at most', wholeNumber.optional()),
    seed: option(
      '<n>',
      'seed of the injected faults (default: a random one, which is printed)',
      wholeNumber.optional(),
    ),
    agents: option('<n>', 'synthetic agents', wholeNumber.default(8)),
    processes: option('<n>', 'processes that host them', wholeNumber.default(4)),
    rounds: option('<n>', 'rounds, each with a handshake of its own', wholeNumber.default(10)),
    json: flag('print the result as one JSON value'),
  }),
});

/** Upper bound of drawn seeds: short enough to type. */
const DRAWN_SEEDS = 1_000_000;
const MAX_AGENTS = 256;
const MEGABYTE = 2 ** 20;
const SHOWN_VIOLATIONS = 20;

export function defineSoak(command: Command): void {
  defineOptions(command, soakTable, run);
}

/**
 * Soaks the hub: a flood of packets in rounds, each with another adapter, while agents are killed, doze and
 * come back, and tasks are asked. Exit code 1 if a ledger does not balance, memory grows, or anything is left
 * behind.
 */
async function run(options: z.output<typeof soakTable.options>): Promise<void> {
  const { minutes, agents, processes, rounds, seed = randomInt(1, DRAWN_SEEDS) } = options;
  if (agents < 3 || agents > MAX_AGENTS)
    throw new MeshError('usage', `--agents: expected 3 to ${MAX_AGENTS}, not ${agents}`);
  if (processes > agents)
    throw new MeshError('usage', `--processes: ${agents} agents fill at most ${agents} processes`);
  console.error(`seed ${seed}: ${agents} agents in ${processes} processes, ${rounds} rounds`);
  const { signal } = handleInterrupt('the soak');
  const packets = options.packets ?? Number.POSITIVE_INFINITY;
  const bar = await ProgressBar.start(rounds, 'rounds');
  const plan = { seed, agents, processes, rounds, minutes, packets };
  const report = await runSoakCampaign(plan, signal, bar).finally(() => bar.end());
  if (options.json) printJson(report);
  else printReport(report);
  if (report.violations.length > 0) process.exitCode = 1;
  else if (signal.aborted) process.exitCode = EXIT.interrupted;
}

function printReport(report: SoakReport): void {
  const { green, red } = createStyles(process.stdout);
  const head = ['round', 'adapter', 's', 'packets', 'offered', 'received', 'unconfirmed', 'undeliverable'];
  const rest = ['dropped', 'refused', 'kills', 'lost', 'tasks', 'answered', ''];
  printText(`${formatTable([[...head, ...rest], ...report.rounds.map(formatRoundRow)])}\n`);
  print();
  const { early, late, growth, peak } = report.memory;
  const perSecond = report.packets / Math.max(report.seconds, 0.001);
  const mb = (bytes: number) => `${formatDecimals(bytes / MEGABYTE, 0)} MB`;
  print(
    `${count(report.packets)} packets, ${count(report.deliveries)} deliveries in ${formatDecimals(report.seconds, 1)} s (${count(perSecond)} packets/s)`,
  );
  print(
    `memory of the hub at rest ${mb(early)} → ${mb(late)} (${formatPercent(growth)}), at most ${mb(peak)} under load`,
  );
  print(`left behind: ${report.left.join(', ') || 'no handle, no process'}`);
  for (const violation of report.violations.slice(0, SHOWN_VIOLATIONS)) print(red(violation));
  const isSound = report.violations.length === 0;
  print(
    isSound
      ? green('sound: every ledger balances')
      : red(
          `NOT sound: ${report.violations.length} violations; again: npm run soak -- --seed ${report.seed}`,
        ),
  );
}

function formatRoundRow(round: RoundReport): string[] {
  const { fates, tasks } = round;
  return [
    String(round.round),
    round.adapter,
    formatDecimals(round.seconds, 1),
    count(round.packets),
    count(fates.offered),
    count(fates.received),
    count(fates.unconfirmed),
    count(fates.undeliverable),
    count(fates.dropped),
    count(round.refused + fates.refused),
    String(round.kills),
    String(round.lost),
    String(tasks.ended),
    String(tasks.answered),
    round.violations.length === 0 ? '✓' : '✗',
  ];
}

interface SoakPlan {
  readonly seed: number;
  readonly agents: number;
  readonly processes: number;
  readonly rounds: number;
  /** Limits of time and packets; the first one reached ends the soak. */
  readonly minutes: number;
  readonly packets: number;
}

interface SoakReport {
  readonly seed: number;
  readonly packets: number;
  readonly deliveries: number;
  readonly seconds: number;
  readonly rounds: readonly RoundReport[];
  /** Memory of the hub's process in bytes. */
  readonly memory: MemoryGrowth;
  /** Handles that were left when everything had ended. */
  readonly left: readonly string[];
  readonly violations: readonly string[];
}

/**
 * Protocols that rounds use in turn: the hub can read their heads without decoding, so that the hub itself is
 * soaked.
 */
const ADAPTERS = ['json', 'msgpack', 'cbor'] as const;
/**
 * One in this many rounds delivers packets one by one, with faults; the checksum shows the corrupted ones.
 */
const FAULTY_EVERY = 3;
const FAULTY_ADAPTER = 'json+crc32c';
const FAULTS = 'drop=1%,dup=1%,corrupt=0.5%,delay=2ms±2:0>1';
/** Packets of a round with faults relative to another round: the hub decides about every single delivery. */
const FAULTY_SHARE = 0.05;
const SAMPLE_EVERY_MS = 100;
/** Maximum turns of the event loop until closed handles have gone. */
const LOOKS = 1000;

/**
 * Runs a bounded flood of synthetic agents through real connections, round after round, with injected faults
 * by seed.
 */
async function runSoakCampaign(plan: SoakPlan, signal: AbortSignal, bar: ProgressBar): Promise<SoakReport> {
  const before = process.getActiveResourcesInfo();
  const startMs = performance.now();
  const violations: string[] = [];
  const rounds: RoundReport[] = [];
  const memory = new MemoryCurve(SAMPLE_EVERY_MS);
  const swarm = await Swarm.start(plan.agents, plan.processes, (message) => violations.push(message));
  try {
    for (let number = 1; number <= plan.rounds && !signal.aborted; number++) {
      const report = await runSoakRound(swarm, planRound(plan, number), signal);
      rounds.push(report);
      memory.rest();
      violations.push(...report.violations.map((violation) => `round ${number}: ${violation}`));
      bar.advance(`${count(report.packets)} packets of ${report.adapter}`);
    }
  } finally {
    memory.end();
    await swarm.stop();
  }
  const left = await findLeftHandles(before);
  const growth = memory.growth();
  if (growth.growth > MAX_GROWTH) {
    const percent = (growth.growth * 100).toFixed(1);
    violations.push(`memory grew by ${percent} %; ${MAX_GROWTH * 100} % are allowed`);
  }
  if (left.length > 0) violations.push(`left behind: ${left.join(', ')}`);
  return {
    seed: plan.seed,
    packets: rounds.reduce((sum, { packets }) => sum + packets, 0),
    deliveries: rounds.reduce((sum, { fates }) => sum + fates.offered, 0),
    seconds: (performance.now() - startMs) / 1000,
    rounds,
    memory: growth,
    left,
    violations,
  };
}

function planRound(plan: SoakPlan, number: number) {
  const { seed, agents, processes } = plan;
  const isFaulty = number % FAULTY_EVERY === 0;
  const names = Array.from({ length: agents }, (_, id) => ({ id: String(id), tool: SYNTHETIC_TOOL }));
  const faultyRounds = Math.floor(plan.rounds / FAULTY_EVERY);
  const shares = plan.rounds - faultyRounds * (1 - FAULTY_SHARE);
  const most = (plan.packets * (isFaulty ? FAULTY_SHARE : 1)) / shares;
  const startMs = performance.now();
  const mostMs = (plan.minutes * 60_000) / plan.rounds;
  return {
    number,
    adapter: isFaulty
      ? FAULTY_ADAPTER
      : (ADAPTERS[Math.floor((number * 2) / FAULTY_EVERY) % ADAPTERS.length] ?? 'json'),
    faults: isFaulty ? parseFaults(FAULTS, names) : [],
    seed: seed + number,
    injected: drawInjectedFaults(seed, number, agents, processes),
    progress: (packets: number) => Math.max(packets / most, (performance.now() - startMs) / mostMs),
  };
}

/**
 * Finds handles of this process that were not there before: connections, listeners, timers, child processes
 * and their pipes.
 */
async function findLeftHandles(before: readonly string[]): Promise<string[]> {
  let left: string[] = [];
  // Handles that were just closed go within the next turns of the event loop.
  for (let look = 0; look < LOOKS; look++) {
    // A timer would itself be a handle, so this waits for a turn.
    await nextTurn();
    const known = [...before];
    left = process.getActiveResourcesInfo().filter((name) => {
      const index = known.indexOf(name);
      if (index >= 0) known.splice(index, 1);
      return index < 0;
    });
    if (left.length === 0) break;
  }
  return left;
}

/**
 * The resident memory of this process over a run. It is compared at rest, between rounds and after garbage
 * collection: under load it shows the garbage of that moment, and hides the memory that is really kept.
 */
export class MemoryCurve {
  readonly #atRest: { readonly seconds: number; readonly bytes: number }[] = [];
  readonly #startMs = performance.now();
  readonly #timer: NodeJS.Timeout;
  readonly #collect = findCollector();
  #peak = 0;

  constructor(everyMs: number) {
    this.#timer = setInterval(() => {
      this.#peak = Math.max(this.#peak, process.memoryUsage.rss());
    }, everyMs);
  }

  /** Takes a measurement at rest; call it when nothing is going on. */
  rest(): void {
    this.#collect();
    this.note(process.memoryUsage.rss(), (performance.now() - this.#startMs) / 1000);
  }

  note(bytes: number, seconds: number): void {
    this.#atRest.push({ bytes, seconds });
    this.#peak = Math.max(this.#peak, bytes);
  }

  end(): void {
    clearInterval(this.#timer);
  }

  growth(): MemoryGrowth {
    const last = this.#atRest.at(-1);
    const from = Math.min(SETTLED_PART * (last?.seconds ?? 0), SETTLED_SECONDS);
    const early = this.#atRest.find(({ seconds }) => seconds >= from)?.bytes ?? 0;
    const late = last?.bytes ?? 0;
    return { early, late, growth: early === 0 ? 0 : late / early - 1, peak: this.#peak };
  }
}

/**
 * Returns Node's garbage collector. Node exposes it by a flag at the start; a context created after setting
 * the flag has it, too.
 */
function findCollector(): () => void {
  v8.setFlagsFromString('--expose-gc');
  const collect: unknown = vm.runInNewContext('gc');
  v8.setFlagsFromString('--no-expose-gc');
  // The last-resort flavour also gives back pages that the collector would keep for later.
  return typeof collect === 'function'
    ? () => collect({ type: 'major', flavor: 'last-resort' })
    : () => undefined;
}
