import type { AdapterComparison } from '../../core/recording/compare-adapters.ts';
import type { Recording } from '../../core/recording/recording.ts';

/** A share of a task, or of a core, that is worth caring about. */
const WORTH_CARING = 0.05;

/** What the comparison comes to for somebody who has to choose, and the numbers behind it. */
export interface Conclusion {
  readonly sentence: string;
  /** Milliseconds of one task between the quickest and the slowest adapter whose difference was detected; 0 if none was. */
  readonly spread_ms: number;
  /** Milliseconds of one task with its tools, through the baseline. */
  readonly task_ms: number;
  /** Of a task's time. */
  readonly share: number;
  /** Tool or model time of a task below which the spread is more than 5 % of it, milliseconds. */
  readonly below_ms: number;
  /** Packets per second above which the spread in coding keeps more than 5 % of a core busy. */
  readonly above_packets_per_s: number;
}

export function conclusionOf(comparison: AdapterComparison, recording: Recording): Conclusion {
  const tasks = recording.packets.filter(({ cause }) => cause === null).length;
  const packets = recording.packets.length;
  const toolMs = recording.packets.reduce((sum, { toolUs }) => sum + toolUs, 0) / 1000 / tasks;
  const [baseline] = comparison.adapters;
  const baseMs = (baseline?.latency_us.median ?? 0) / 1000 / tasks;
  const detected = comparison.adapters.filter(
    ({ vs_baseline }) => vs_baseline === null || vs_baseline.time.verdict !== 'no detectable difference',
  );
  const times = detected.map(({ latency_us }) => latency_us.median / 1000 / tasks);
  const spreadMs = times.length > 1 ? Math.max(...times) - Math.min(...times) : 0;
  const codingUs = comparison.adapters.map(({ encode_us, decode_us }) => (encode_us + decode_us) / packets);
  const codingSpreadUs = Math.max(...codingUs) - Math.min(...codingUs);
  const taskMs = toolMs + baseMs;
  const share = taskMs > 0 ? spreadMs / taskMs : 0;
  const belowMs = Math.max(0, spreadMs / WORTH_CARING - baseMs);
  const perSecond = codingSpreadUs > 0 ? (WORTH_CARING * 1e6) / codingSpreadUs : Number.POSITIVE_INFINITY;
  return {
    sentence: sentenceOf(comparison.baseline, { spreadMs, share, belowMs, perSecond }),
    spread_ms: spreadMs,
    task_ms: taskMs,
    share,
    below_ms: belowMs,
    above_packets_per_s: perSecond,
  };
}

function sentenceOf(
  baseline: string,
  {
    spreadMs,
    share,
    belowMs,
    perSecond,
  }: { spreadMs: number; share: number; belowMs: number; perSecond: number },
): string {
  const rate = `${Math.round(perSecond).toLocaleString('en-US')} packets/s`;
  if (spreadMs === 0) {
    return `No adapter differs detectably from ${baseline} in time here; coding matters above ${rate}.`;
  }
  const percent = share * 100;
  const shown = percent >= 1 ? percent.toFixed(0) : percent.toPrecision(1);
  return (
    `Adapter choice is ${shown} % of task time here; it matters below ${belowMs.toFixed(0)} ms of tool or model ` +
    `time per task, or above ${rate}.`
  );
}
