import { median } from '../statistics/inference/quantile.ts';
import { count, decimals } from '../terminal/table.ts';
import type { TableView } from '../terminal/table-view.ts';
import { EMPTY, type PanelsView } from './panels-view.ts';
import { bound, msText, ratioText } from './wording.ts';

/** What was measured of one arm: an invocation a list, milliseconds. */
interface ArmRounds {
  readonly label: string;
  readonly settings: string;
  readonly samplesMs: readonly (readonly number[])[];
}

/** What each set of fresh processes came to, in the order in which they ran; null where there was one of each. */
export function roundsView(
  arms: readonly ArmRounds[],
  { what, caption, table }: { readonly what: string; readonly caption: string; readonly table: TableView },
): PanelsView | null {
  const measured = arms.filter(({ samplesMs }) => samplesMs.length > 1);
  if (measured.length === 0) return null;
  const medians = measured.map(({ samplesMs }) => samplesMs.map(median));
  const drifts = medians.map((own) => Math.max(...own) / Math.min(...own));
  const most = Math.max(...measured.map(({ samplesMs }) => samplesMs.length));
  return {
    finding: bound(
      `From one fresh ${what} to the next, medians of one arm are up to ${ratioText(Math.max(...drifts))} apart`,
    ),
    panels: measured.map(({ label, settings, samplesMs }, index) => ({
      ...EMPTY,
      label,
      note: bound(
        [settings, `up to ${ratioText(drifts[index] ?? 1)} apart`].filter((part) => part !== '').join(' · '),
      ),
      line: (medians[index] ?? []).map((y, at) => ({
        x: at + 1,
        y,
        title: `invocation ${count(at + 1)}: ${msText(y)}`,
      })),
      dots: samplesMs.flatMap((rounds, at) =>
        rounds.map((y) => ({ x: at + 1, y, title: `invocation ${count(at + 1)}, a round: ${msText(y)}` })),
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

/** What the machine did meanwhile: load, stolen and throttled milliseconds, free megabytes. */
export function machineCells({ load, steal_ms, throttled_ms, available_bytes }: MachineState): string[] {
  return [decimals(load, 1), decimals(steal_ms, 0), decimals(throttled_ms, 0), count(available_bytes / 1e6)];
}
