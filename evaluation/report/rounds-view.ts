import { computeMedian } from '../statistics/inference/quantile.ts';
import { count, formatDecimals } from '../terminal/table.ts';
import type { TableView } from '../terminal/table-view.ts';
import { EMPTY, type PanelsView } from './panels-view.ts';
import { bindNumbers, formatMs, formatRatio } from './wording.ts';

/** Samples of one arm in milliseconds, one list for each invocation. */
interface ArmRounds {
  readonly label: string;
  readonly settings: string;
  readonly samplesMs: readonly (readonly number[])[];
}

/** Builds panels of the sets of fresh processes in the order in which they ran; null if there was one of each. */
export function buildRoundsView(
  arms: readonly ArmRounds[],
  { what, caption, table }: { readonly what: string; readonly caption: string; readonly table: TableView },
): PanelsView | null {
  const measured = arms.filter(({ samplesMs }) => samplesMs.length > 1);
  if (measured.length === 0) return null;
  const medians = measured.map(({ samplesMs }) => samplesMs.map(computeMedian));
  const drifts = medians.map((own) => Math.max(...own) / Math.min(...own));
  const most = Math.max(...measured.map(({ samplesMs }) => samplesMs.length));
  return {
    finding: bindNumbers(
      `From one fresh ${what} to the next, medians of one arm are up to ${formatRatio(Math.max(...drifts))} apart`,
    ),
    panels: measured.map(({ label, settings, samplesMs }, index) => ({
      ...EMPTY,
      label,
      note: bindNumbers(
        [settings, `up to ${formatRatio(drifts[index] ?? 1)} apart`]
          .filter((part) => part !== '')
          .join(' · '),
      ),
      line: (medians[index] ?? []).map((y, at) => ({
        x: at + 1,
        y,
        title: `invocation ${count(at + 1)}: ${formatMs(y)}`,
      })),
      dots: samplesMs.flatMap((rounds, at) =>
        rounds.map((y) => ({ x: at + 1, y, title: `invocation ${count(at + 1)}, a round: ${formatMs(y)}` })),
      ),
    })),
    x: {
      label: 'invocation',
      isLog: false,
      ticks: Array.from({ length: most }, (_, index) => index + 1).filter((at) => most < 9 || at % 5 === 0),
    },
    y: { label: 'milliseconds', isLog: true },
    caption,
    table,
  };
}

interface MachineState {
  readonly load: number;
  readonly steal_ms: number | null;
  readonly throttled_ms: number | null;
  readonly available_bytes: number;
}

/** Formats the state of the machine: load, stolen and throttled milliseconds, free megabytes. */
export function formatMachineCells({
  load,
  steal_ms,
  throttled_ms,
  available_bytes,
}: MachineState): string[] {
  return [
    formatDecimals(load, 1),
    formatDecimals(steal_ms, 0),
    formatDecimals(throttled_ms, 0),
    count(available_bytes / 1e6),
  ];
}
