import { dot, gridY, line, pointer, ruleX, tickX, tip } from '@observablehq/plot';
import type {
  AdaptersComparison,
  ComparisonFile,
  StackArm,
  StacksComparison,
} from '../../compare/comparison-file.ts';
import { formatName } from '../../compare/verdict-text.ts';
import { Chart, listLogTicks } from '../chart.tsx';
import { formatBytes, formatCount, formatMs, formatTick, showHidden } from '../format.ts';
import { Card } from '../parts.tsx';

interface Point {
  readonly x: number;
  readonly y: number;
  readonly title: string;
}

/** One arm: a line, perhaps a second one above it, and the values of single rounds. */
interface Panel {
  readonly label: string;
  readonly note?: string;
  readonly line: readonly Point[];
  readonly upper?: readonly Point[];
  readonly dots?: readonly Point[];
  /** Loads that the arm did not keep up with, which have no value. */
  readonly lost?: readonly number[];
  /** Position of the knee. */
  readonly mark?: number | null;
}

/** A small chart for each arm, all on the same axes, with the baseline's line behind each. */
interface PanelsView {
  readonly id: string;
  readonly title: string;
  readonly nav?: string;
  readonly about: string;
  readonly panels: readonly Panel[];
  readonly x: { readonly label: string; readonly isLog: boolean };
  readonly y: { readonly label: string; readonly isLog: boolean };
}

const GREY = 'Grey: the baseline; the axes of all charts are the same.';

/** Lists what was measured over loads, sizes, numbers of agents, and time. */
export function listPanels(file: ComparisonFile): PanelsView[] {
  const views =
    file.kind === 'adapters'
      ? [toGrowth(file, 'bytes'), toGrowth(file, 'time'), toRounds(file)]
      : [toCurves(file), toThroughput(file), toSizes(file), toRounds(file)];
  return views.filter(({ panels }) => panels.some(({ line: own }) => own.length > 1));
}

/** The cost of all tasks by the number of agents, where numbers of agents were compared. */
function toGrowth({ arms }: AdaptersComparison, what: 'bytes' | 'time'): PanelsView {
  const isBytes = what === 'bytes';
  const points = arms.flatMap(({ name, bytes_on_wire, latency_us }) => {
    const [, adapter = '', agents] = /^(.*) agents=(\d+)$/.exec(name) ?? [];
    const y = isBytes ? bytes_on_wire : (latency_us?.p50 ?? 0) / 1000;
    if (agents === undefined || y === 0) return [];
    return [
      { adapter, x: Number(agents), y, title: `${agents} agents: ${isBytes ? formatBytes(y) : formatMs(y)}` },
    ];
  });
  return {
    id: `growth-${what}`,
    title: `${isBytes ? 'Bytes' : 'Time'} as the team grows`,
    about: `Of all tasks${isBytes ? ', copies to each recipient included' : ', as a median'}. ${GREY}`,
    panels: [...Map.groupBy(points, ({ adapter }) => adapter)].map(([adapter, own]) => ({
      label: formatName(adapter),
      line: own.toSorted((a, b) => a.x - b.x),
    })),
    x: { label: 'agents', isLog: true },
    y: { label: isBytes ? 'bytes on all sockets' : 'milliseconds', isLog: true },
  };
}

/** From load to latency, up to the knee and beyond. */
function toCurves({ arms }: StacksComparison): PanelsView {
  const points = (curve: NonNullable<StackArm['curve']>, which: 'p50_us' | 'p99_us') =>
    curve.flatMap((point): Point[] => {
      const us = point[which];
      if (us === null || us === 0 || point.offered_per_s === 0) return [];
      const title = `${formatCount(point.offered_per_s)}/s: ${which.slice(0, 3)} ${formatMs(us / 1000)}, ${formatCount(point.achieved_per_s)}/s done`;
      return [{ x: point.offered_per_s, y: us / 1000, title }];
    });
  return {
    id: 'load',
    nav: 'Load',
    title: 'Latency by load',
    about: `Strong line: half of the exchanges take at most this; thin line: 99 of 100 do. Dashed: the knee, the highest load at which the median is less than ten times that of the lowest; red: a load that it did not keep up with. ${GREY}`,
    panels: arms.flatMap(({ name, curve, knee_per_s: mark }) =>
      curve === null
        ? []
        : [
            {
              label: formatName(name),
              note: mark === null ? 'no knee' : `knee at ${formatCount(mark)}/s`,
              line: points(curve, 'p50_us'),
              upper: points(curve, 'p99_us'),
              lost: curve.filter(({ p50_us }) => p50_us === null).map(({ offered_per_s }) => offered_per_s),
              mark,
            },
          ],
    ),
    x: { label: 'exchanges offered a second', isLog: true },
    y: { label: 'milliseconds', isLog: true },
  };
}

/** Exchanges a second by the number that are under way at once. */
function toThroughput({ arms }: StacksComparison): PanelsView {
  return {
    id: 'throughput',
    title: 'Throughput by concurrency',
    about: `Each exchange begins as one before it ends. Dots are rounds, the line goes through their medians. ${GREY}`,
    panels: arms.map(({ name, saturation }) => ({
      label: formatName(name),
      note: `at best ${formatCount(Math.max(0, ...saturation.map(({ per_s }) => per_s)))}/s`,
      line: saturation.map(({ concurrency: x, per_s: y }) => ({
        x,
        y,
        title: `${x} at once: ${formatCount(y)}/s`,
      })),
      dots: saturation.flatMap(({ concurrency: x, samples }) =>
        samples.flat().map((y) => ({ x, y, title: `a round: ${formatCount(y)}/s` })),
      ),
    })),
    x: { label: 'exchanges under way at once', isLog: true },
    y: { label: 'exchanges a second', isLog: false },
  };
}

/** From size to latency, where sizes were made arms. */
function toSizes({ arms }: StacksComparison): PanelsView {
  const sized = arms.flatMap(
    ({ stack, implementation, levels: { size: _, ...levels }, settings, latency_us }) =>
      settings.size === null || settings.size === 0 || latency_us === null
        ? []
        : [
            {
              name: [stack, implementation, ...Object.values(levels)].join(' '),
              size: settings.size,
              latency_us,
            },
          ],
  );
  return {
    id: 'sizes',
    title: 'Latency by size',
    about: `Strong line: half of the exchanges take at most this; thin line: 99 of 100 do. ${GREY}`,
    panels: [...Map.groupBy(sized, ({ name }) => name)].map(([name, own]) => {
      const points = (which: 'p50' | 'p99') =>
        own
          .toSorted((a, b) => a.size - b.size)
          .flatMap(({ size: x, latency_us: { [which]: us } }): Point[] =>
            us === null
              ? []
              : [{ x, y: us / 1000, title: `${formatBytes(x)}: ${which} ${formatMs(us / 1000)}` }],
          );
      return { label: formatName(name), line: points('p50'), upper: points('p99') };
    }),
    x: { label: 'bytes of a payload', isLog: true },
    y: { label: 'milliseconds', isLog: true },
  };
}

/** The sets of fresh processes in the order in which they ran: a drift of the machine is seen in all charts at the same place. */
function toRounds({ arms }: ComparisonFile): PanelsView {
  const middle = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
  return {
    id: 'rounds',
    title: 'Rounds over time',
    about: `Dots are rounds, the line goes through the median of each invocation. Arms took turns, so what the machine did at a time is seen in all charts at the same place. ${GREY}`,
    panels: arms.map(({ name, samples_us: { time } }) => {
      const toPoint = (us: number, at: number, what: string) => ({
        x: at + 1,
        y: us / 1000,
        title: `invocation ${at + 1}, ${what}: ${formatMs(us / 1000)}`,
      });
      return {
        label: formatName(name),
        line: time.map((rounds, at) => toPoint(middle(rounds), at, 'median')),
        dots: time.flatMap((rounds, at) => rounds.map((us) => toPoint(us, at, 'a round'))),
      };
    }),
    x: { label: 'invocation', isLog: false },
    y: { label: 'milliseconds', isLog: true },
  };
}

export function PanelsCard({ view: { panels, x, y, ...card } }: { readonly view: PanelsView }) {
  const points = panels.flatMap((panel) => [...panel.line, ...(panel.upper ?? []), ...(panel.dots ?? [])]);
  const xs = [
    ...points.map((point) => point.x),
    ...panels.flatMap(({ lost = [], mark }) => [...lost, ...(mark == null ? [] : [mark])]),
  ];
  const ys = points.map((point) => point.y);
  const given = [...new Set(points.map((point) => point.x))].sort((a, b) => a - b);
  const base = panels[0]?.line ?? [];
  return (
    <Card {...card}>
      <div class="panels">
        {panels.map((panel) => (
          <div key={panel.label}>
            <h3>{showHidden(panel.label)}</h3>
            <p class="about">{panel.note}</p>
            <Chart
              label={`${card.title}: ${panel.label}`}
              of={panels}
              draw={(width) => ({
                height: 180,
                marginLeft: 44,
                marginBottom: 34,
                marginTop: 14,
                x: {
                  type: x.isLog ? 'log' : 'linear',
                  domain: widen(xs, x.isLog),
                  label: x.label,
                  ticks:
                    given.length <= 6
                      ? given
                      : x.isLog
                        ? listLogTicks(...widen(xs, true), width / 60)
                        : width / 70,
                  tickFormat: formatTick,
                },
                y: {
                  type: y.isLog ? 'log' : 'linear',
                  domain: widen(ys, y.isLog),
                  label: y.label,
                  ticks: 4,
                  tickFormat: formatTick,
                },
                marks: [
                  gridY({ ticks: 4, stroke: 'var(--line)', strokeOpacity: 1 }),
                  panel === panels[0]
                    ? null
                    : line(base, { x: 'x', y: 'y', stroke: 'var(--s5)', strokeWidth: 1.5 }),
                  dot(panel.dots ?? [], { x: 'x', y: 'y', r: 2, fill: 'var(--s1)', fillOpacity: 0.45 }),
                  line(panel.upper ?? [], { x: 'x', y: 'y', stroke: 'var(--s1)', strokeWidth: 1 }),
                  line(panel.line, { x: 'x', y: 'y', stroke: 'var(--s1)', strokeWidth: 2.5 }),
                  dot(panel.line, { x: 'x', y: 'y', r: 2.5, fill: 'var(--s1)' }),
                  tickX(panel.lost ?? [], {
                    x: (value: number) => value,
                    stroke: 'var(--bad)',
                    strokeWidth: 2,
                  }),
                  panel.mark == null
                    ? null
                    : ruleX([panel.mark], { stroke: 'var(--s2)', strokeDasharray: '4 3' }),
                  tip([...panel.line, ...(panel.upper ?? [])], pointer({ x: 'x', y: 'y', title: 'title' })),
                ],
              })}
            />
          </div>
        ))}
      </div>
    </Card>
  );
}

function widen(values: readonly number[], isLog: boolean): [number, number] {
  const known = isLog ? values.filter((value) => value > 0) : values;
  const [low, high] = [Math.min(...known), Math.max(...known)];
  if (!Number.isFinite(low)) return isLog ? [1, 10] : [0, 1];
  return isLog ? [low * 0.9, high * 1.1] : [Math.min(0, low), high * 1.05 || 1];
}
