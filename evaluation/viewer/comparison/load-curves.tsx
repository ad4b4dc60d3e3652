import { dot, gridY, line, pointer, ruleX, tickX, tip } from '@observablehq/plot';
import type { StackArm, StacksComparison } from '../../compare/comparison-file.ts';
import { formatName } from '../../compare/comparison-text.ts';
import { count } from '../../terminal/table.ts';
import { Chart, listLogTicks } from '../chart.tsx';
import { formatMs, formatTick, showHidden } from '../format.ts';
import { Card } from '../parts.tsx';

type Curve = NonNullable<StackArm['curve']>;

/** A small chart of latency by load for each arm, up to its knee and beyond. All charts have the same axes. */
export function LoadCard({ file: { arms } }: { readonly file: StacksComparison }) {
  const drawn = arms.flatMap(({ name, curve, knee_per_s: knee }) =>
    curve === null ? [] : [{ name: formatName(name), curve, knee }],
  );
  const [first] = drawn;
  if (first === undefined || first.curve.length < 2) return null;
  const loads = widen(drawn.flatMap(({ curve }) => curve.map(({ offered_per_s }) => offered_per_s)));
  const times = widen(
    drawn
      .flatMap(({ curve }) => [...listPoints(curve, 'p50_us'), ...listPoints(curve, 'p99_us')])
      .map(({ ms }) => ms),
  );
  return (
    <Card
      id="load"
      nav="Load"
      title="Latency by load"
      about="Strong line: half of the exchanges take at most this; thin line: 99 of 100 do. Dashed: the knee, the highest load at which the median is less than ten times that of the lowest; red: a load that it did not keep up with. Grey: the baseline; the axes of all charts are the same."
    >
      <div class="panels">
        {drawn.map(({ name, curve, knee }) => (
          <div key={name}>
            <h3>{showHidden(name)}</h3>
            <p class="about">{knee === null ? 'no knee' : `knee at ${count(knee)}/s`}</p>
            <Chart
              label={`Latency by load: ${name}`}
              of={drawn}
              draw={(width) => {
                const [median, tail] = [listPoints(curve, 'p50_us'), listPoints(curve, 'p99_us')];
                const at = { x: 'load', y: 'ms' };
                return {
                  height: 180,
                  marginLeft: 44,
                  marginBottom: 34,
                  marginTop: 14,
                  x: {
                    type: 'log',
                    domain: loads,
                    label: 'exchanges offered a second',
                    ticks: listLogTicks(...loads, width / 60),
                    tickFormat: formatTick,
                  },
                  y: { type: 'log', domain: times, label: 'milliseconds', ticks: 4, tickFormat: formatTick },
                  marks: [
                    gridY({ ticks: 4, stroke: 'var(--line)', strokeOpacity: 1 }),
                    curve === first.curve
                      ? null
                      : line(listPoints(first.curve, 'p50_us'), { ...at, stroke: 'var(--s5)' }),
                    line(tail, { ...at, stroke: 'var(--s1)', strokeWidth: 1 }),
                    line(median, { ...at, stroke: 'var(--s1)', strokeWidth: 2.5 }),
                    dot(median, { ...at, r: 2.5, fill: 'var(--s1)' }),
                    tickX(
                      curve.filter(({ p50_us }) => p50_us === null),
                      { x: 'offered_per_s', stroke: 'var(--bad)', strokeWidth: 2 },
                    ),
                    knee === null ? null : ruleX([knee], { stroke: 'var(--s2)', strokeDasharray: '4 3' }),
                    tip([...median, ...tail], pointer({ ...at, title: 'title' })),
                  ],
                };
              }}
            />
          </div>
        ))}
      </div>
    </Card>
  );
}

function listPoints(curve: Curve, which: 'p50_us' | 'p99_us') {
  return curve.flatMap((point) => {
    const us = point[which];
    if (us === null || us === 0 || point.offered_per_s === 0) return [];
    const title = `${count(point.offered_per_s)}/s: ${which.slice(0, 3)} ${formatMs(us / 1000)}, ${count(point.achieved_per_s)}/s done`;
    return [{ load: point.offered_per_s, ms: us / 1000, title }];
  });
}

function widen(values: readonly number[]): [number, number] {
  const known = values.filter((value) => value > 0);
  return known.length === 0 ? [1, 10] : [Math.min(...known) * 0.9, Math.max(...known) * 1.1];
}
