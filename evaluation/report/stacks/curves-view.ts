import type { StackArm, StacksComparison } from '../../compare/comparison-file.ts';
import { formatName } from '../../compare/verdict-text.ts';
import { count, formatDecimals } from '../../terminal/table.ts';
import { createTableView } from '../../terminal/table-view.ts';
import { EMPTY, type Panel, type PanelsView, type Point } from '../panels-view.ts';
import { buildRoundsView, formatMachineCells } from '../rounds-view.ts';
import { bindNumbers, formatMs, formatSpan } from '../wording.ts';

/** From load to latency, up to the knee and beyond; null where no arm's load was raised. */
export function loadCurves({ arms }: StacksComparison): PanelsView | null {
  const raised = arms.flatMap((arm) => (arm.curve === null ? [] : [{ ...arm, curve: arm.curve }]));
  if (raised.length === 0) return null;
  const knees = raised.flatMap(({ knee_per_s }) => (knee_per_s === null ? [] : [knee_per_s]));
  return {
    finding: bindNumbers(
      knees.length === 0
        ? 'No load had a knee'
        : `The latency bends at ${formatSpan(knees)} exchanges a second`,
    ),
    panels: raised.map(({ curve, knee_per_s, ...arm }) => ({
      ...EMPTY,
      ...formatArmTitle(arm, knee_per_s === null ? 'no knee' : `knee ${count(knee_per_s)}/s`),
      line: listCurvePoints(curve, 'p50_us'),
      upper: listCurvePoints(curve, 'p99_us'),
      lost: curve.filter(({ p50_us }) => p50_us === null).map(({ offered_per_s }) => offered_per_s),
      mark: knee_per_s,
    })),
    x: { label: 'exchanges offered a second', isLog: true, ticks: null },
    y: { label: 'milliseconds', isLog: true },
    caption:
      'Strong line: half of the exchanges take at most this; thin line: 99 of 100 do. Dashed: the knee, the highest load at which the median is less than ten ' +
      'times that of the lowest; ×: a load that it did not keep up with. Grey: the baseline. Both axes are logarithmic, and the same in all charts.',
    table: createTableView(
      ['', '#offered/s', '#done/s', '#n', '#p50 ms', '#p99 ms'],
      raised.flatMap(({ name, curve }) =>
        curve.map((point) => [
          formatName(name),
          count(point.offered_per_s),
          count(point.achieved_per_s),
          count(point.n),
          ...[point.p50_us, point.p99_us].map((us) => formatDecimals(us === null ? null : us / 1000, 2)),
        ]),
      ),
    ),
  };
}

function listCurvePoints(curve: NonNullable<StackArm['curve']>, which: 'p50_us' | 'p99_us'): Point[] {
  return curve.flatMap((point) => {
    const us = point[which];
    if (us === null || us === 0 || point.offered_per_s === 0) return [];
    const title = `${count(point.offered_per_s)}/s: ${which === 'p50_us' ? 'p50' : 'p99'} ${formatMs(us / 1000)}, ${count(point.achieved_per_s)}/s done`;
    return [{ x: point.offered_per_s, y: us / 1000, title }];
  });
}

/** Exchanges a second when so many are under way at once. */
export function buildThroughputView({ arms }: StacksComparison): PanelsView | null {
  const levels = arms[0]?.saturation.map(({ concurrency }) => concurrency) ?? [];
  if (levels.length < 2) return null;
  const bests = arms.map(({ saturation }) => Math.max(...saturation.map(({ per_s }) => per_s)));
  return {
    finding: bindNumbers(`At best ${formatSpan(bests)} exchanges a second`),
    panels: arms.map(({ saturation, ...arm }, index) => ({
      ...EMPTY,
      ...formatArmTitle(arm, `at best ${count(bests[index] ?? 0)}/s`),
      line: saturation.map(({ concurrency, per_s }) => ({
        x: concurrency,
        y: per_s,
        title: `${concurrency} at once: ${count(per_s)}/s`,
      })),
      dots: saturation.flatMap(({ concurrency, samples }) =>
        samples.flat().map((per_s) => ({ x: concurrency, y: per_s, title: `a round: ${count(per_s)}/s` })),
      ),
    })),
    x: { label: 'exchanges under way at once', isLog: true, ticks: levels },
    y: { label: 'exchanges a second', isLog: false },
    caption:
      'Each exchange begins as one before it ends. Dots are single rounds, the line goes through their medians. Grey: the baseline. The axes are the same in all charts.',
    table: createTableView(
      ['', ...levels.map((level) => `#/s at ${level}`)],
      arms.map(({ name, saturation }) => [formatName(name), ...saturation.map(({ per_s }) => count(per_s))]),
    ),
  };
}

/** Builds panels of the fresh pairs of processes in the order in which they ran, with the state of the machine. */
export function buildRoundsPanels({ arms, machine }: StacksComparison): PanelsView | null {
  const measured = arms.map((arm) => ({
    label: formatArmTitle(arm, '').label,
    settings: formatArmTitle(arm, '').note,
    samplesMs: arm.samples_us.time.map((rounds) => rounds.map((us) => us / 1000)),
  }));
  return buildRoundsView(measured, {
    what: 'pair of processes',
    caption:
      'Dots are rounds, the line goes through the median of each invocation; invocations of all stacks ran side by side, so what the machine did at a ' +
      'time is seen in all charts at the same place. Grey: the baseline. What the machine did meanwhile is in the table.',
    table: createTableView(
      ['invocation', '#load', '#stolen ms', '#throttled ms', '#free MB'],
      machine.map((state, at) => [count(at + 1), ...formatMachineCells(state)]),
    ),
  });
}

/** A small chart has two short lines above it: the stack, and its settings with what is to be said of it. */
export function formatArmTitle(
  { stack, implementation, levels }: Pick<StackArm, 'stack' | 'implementation' | 'levels'>,
  note: string,
): Pick<Panel, 'label' | 'note'> {
  const settings = Object.entries(levels).map(([factor, level]) => formatName(`${factor}=${level}`));
  return {
    label: formatName(`${stack} ${implementation}`),
    note: bindNumbers([settings.join(' '), note].filter((part) => part !== '').join(' · ')),
  };
}
