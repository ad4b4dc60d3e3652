import { randomInt } from 'node:crypto';
import { MeshError } from '../../core/errors.ts';
import { INTERRUPTED_EXIT } from '../exit-code.ts';
import { interruptible } from '../interruptible.ts';
import { type SoakReport, soakCampaign } from '../soak/campaign.ts';
import type { RoundReport } from '../soak/soak-round.ts';
import { stylesFor } from '../terminal/style.ts';
import { count, decimals, percent, table } from '../terminal/table.ts';

export interface SoakOptions {
  readonly minutes: number;
  readonly packets?: number;
  readonly seed?: number;
  readonly agents: number;
  readonly processes: number;
  readonly rounds: number;
  readonly json?: boolean;
}

/** Seeds that are drawn are below this: short enough to type. */
const DRAWN_SEEDS = 1_000_000;
const MAX_AGENTS = 256;
const MEGABYTE = 2 ** 20;
const SHOWN_VIOLATIONS = 20;

/**
 * Soaks the hub: a flood of packets in rounds, each with another adapter, while agents are killed, doze and come back, and tasks are
 * asked. Exit code 1 if a book does not balance, memory grows, or anything is left behind.
 */
export async function soak(options: SoakOptions): Promise<void> {
  const { minutes, agents, processes, rounds, seed = randomInt(1, DRAWN_SEEDS) } = options;
  if (agents < 3 || agents > MAX_AGENTS)
    throw new MeshError('usage', `--agents: expected 3 to ${MAX_AGENTS}, not ${agents}`);
  if (processes > agents)
    throw new MeshError('usage', `--processes: ${agents} agents fill at most ${agents} processes`);
  console.error(`seed ${seed}: ${agents} agents in ${processes} processes, ${rounds} rounds`);
  const { signal } = interruptible('the soak');
  const packets = options.packets ?? Number.POSITIVE_INFINITY;
  const report = await soakCampaign({ seed, agents, processes, rounds, minutes, packets }, signal, (round) =>
    console.error(`round ${round.round} (${round.adapter}): ${count(round.packets)} packets`),
  );
  if (options.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  else print(report);
  if (report.violations.length > 0) process.exitCode = 1;
  else if (signal.aborted) process.exitCode = INTERRUPTED_EXIT;
}

function print(report: SoakReport): void {
  const { green, red } = stylesFor(process.stdout);
  const head = ['round', 'adapter', 's', 'packets', 'offered', 'received', 'unconfirmed', 'undeliverable'];
  const rest = ['dropped', 'refused', 'kills', 'lost', 'tasks', 'answered', ''];
  console.log(table([[...head, ...rest], ...report.rounds.map(row)]));
  const { early, late, growth, peak } = report.memory;
  const perSecond = report.packets / Math.max(report.seconds, 0.001);
  const mb = (bytes: number) => `${decimals(bytes / MEGABYTE, 0)} MB`;
  console.log(
    `\n${count(report.packets)} packets, ${count(report.deliveries)} deliveries in ${decimals(report.seconds, 1)} s (${count(perSecond)} packets/s)`,
  );
  console.log(
    `memory of the hub at rest ${mb(early)} → ${mb(late)} (${percent(growth)}), at most ${mb(peak)} under load`,
  );
  console.log(`left behind: ${report.left.join(', ') || 'no handle, no process'}`);
  for (const violation of report.violations.slice(0, SHOWN_VIOLATIONS)) console.log(red(violation));
  const isSound = report.violations.length === 0;
  console.log(
    isSound
      ? green('sound: every book balances')
      : red(
          `NOT sound: ${report.violations.length} violations; again: npm run soak -- --seed ${report.seed}`,
        ),
  );
}

function row(round: RoundReport): string[] {
  const { fates, tasks } = round;
  return [
    String(round.round),
    round.adapter,
    decimals(round.seconds, 1),
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
