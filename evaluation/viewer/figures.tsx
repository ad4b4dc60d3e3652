import { dot, gridX, gridY, line, pointer, rectY, ruleX, tickX, tip } from '@observablehq/plot';
import { useState } from 'preact/hooks';
import type { RatioView } from '../report/comparison/comparison-view.ts';
import type { PanelsView } from '../report/panels-view.ts';
import type { DistributionsView } from '../report/run/distribution.ts';
import type { DensitiesView } from '../report/stacks/density-view.ts';
import type { StackedRow, StackedView } from '../report/stacks/stacked-view.ts';
import type { TableView } from '../terminal/table-view.ts';
import { Chart, Forest, ForestAxis, HUES, listLogTicks, listRatioTicks } from './chart.tsx';
import { formatDecimals, formatRatio, formatTick, showHidden, toLine } from './format.ts';
import { Badge, Card, Choice, Key } from './parts.tsx';
import { type Column, ResultTable, TextTable } from './result-table.tsx';

/** The figures that comparisons of adapters and of stacks share. */

interface FigureProps {
  readonly id: string;
  readonly title: string;
  readonly nav?: string | undefined;
}

interface FiguresProps {
  readonly title: string;
  readonly view: { readonly table: TableView };
  readonly caption?: string;
}

/** The figures of a chart as a table to be opened, below the text that says how they were measured. */
function Figures({ title, view, caption }: FiguresProps) {
  return (
    <details>
      <summary>{caption === undefined ? 'Figures' : 'How it was measured, and figures'}</summary>
      {caption === undefined ? null : <p class="about">{caption}</p>}
      <TextTable label={`${title}, figures`} view={view.table} />
    </details>
  );
}

interface RatioTableProps {
  readonly label: string;
  readonly ratios: readonly RatioView[];
  readonly equal: { readonly low: number; readonly high: number; readonly text: string };
  readonly figure: string;
}

/** Ratios to the baseline as a forest plot in a table; the band is what counts as equal. */
export function RatioTable({ label, ratios, equal, figure }: RatioTableProps) {
  const known = ratios.flatMap(({ ratio, low, high }) => [
    ratio,
    ...(low > 0 ? [low] : []),
    ...(high === null ? [] : [high]),
  ]);
  const low = Math.min(...known, equal.low, 1) * 0.94;
  const high = Math.max(...known, equal.high, 1) * 1.06;
  const scale = {
    low,
    high,
    isLog: true,
    zero: 1,
    band: [equal.low, equal.high] as const,
    ticks: listRatioTicks(low, high),
    format: (ratio: number) => `${ratio}×`,
  };
  const toneOf = ({ isDetected, ratio }: RatioView) => (isDetected ? (ratio > 1 ? 'bad' : 'good') : '');
  const columns: Column<RatioView>[] = [
    { header: 'against the baseline', value: (row) => toLine(row.label, 60) },
    {
      header: 'verdict',
      value: ({ verdict }) => verdict,
      cell: (row) => <Badge tone={toneOf(row) || 'plain'}>{row.verdict}</Badge>,
    },
    {
      header: `${figure} and 95 % interval`,
      axis: <ForestAxis scale={scale} />,
      value: () => '',
      cell: (row) => (
        <Forest
          scale={scale}
          interval={{ at: row.ratio, low: Math.max(row.low, low), high: row.high }}
          tone={toneOf(row)}
        />
      ),
    },
    { header: 'ratio', isNumber: true, value: ({ ratio }) => ratio, format: formatRatio },
    {
      header: 'interval',
      isNumber: true,
      isWide: true,
      value: (row) =>
        `${formatDecimals(row.low, 2)} to ${row.high === null ? '∞' : formatDecimals(row.high, 2)}`,
    },
    {
      header: 'detects',
      isNumber: true,
      isWide: true,
      value: ({ detects }) => detects,
      explain:
        'The smallest ratio, or its inverse, that as many invocations call in four of five measurements.',
    },
  ];
  return <ResultTable label={label} rows={ratios} columns={columns} />;
}

/** Colours of the eight hues of a stack of parts. */
const PART_HUES = [HUES[0], HUES[1], '--muted', HUES[2], HUES[3], '--accent', '--s5', '--good'] as const;

/** Bars of parts on both sides of nothing, in one or more ways to count them. */
export function StackedCard({ id, title, nav, view }: FigureProps & { readonly view: StackedView }) {
  const [chosen, setChosen] = useState(0);
  const choice = view.choices[chosen] ?? view.choices[0];
  const rows = choice?.rows ?? [];
  const isLog = view.scale === 'product';
  const read = (value: number) => (isLog ? Math.log(Math.max(1e-9, value)) : value);
  const ends = rows.flatMap(({ parts, end }) => [end, ...parts.flatMap(({ from, to }) => [from, to])]);
  const low = read(Math.min(isLog ? 1 : 0, ...ends));
  const high = read(Math.max(isLog ? 1 : 0, ...ends));
  const place = (value: number) => ((read(value) - low) / (high - low || 1)) * 100;
  const columns: Column<StackedRow>[] = [
    { header: 'stack', value: ({ label }) => label },
    { header: choice?.axis ?? '', isNumber: true, value: ({ text }) => text },
    {
      header: 'parts',
      value: () => '',
      cell: ({ parts, end }) => (
        <svg
          class="forest stack"
          viewBox="0 0 100 14"
          preserveAspectRatio="none"
          role="img"
          aria-label={parts.map((part) => part.title).join('; ')}
        >
          {parts.map(({ name, from, to, hue: index, isSure, title: what }) => (
            <rect
              key={name}
              x={place(from)}
              width={Math.max(0.3, place(to) - place(from))}
              y={1}
              height={12}
              style={{ fill: `var(${PART_HUES[index % PART_HUES.length]})`, opacity: isSure ? 1 : 0.35 }}
            >
              <title>{what}</title>
            </rect>
          ))}
          <line class="end" x1={place(end)} x2={place(end)} y1={0} y2={14} />
        </svg>
      ),
    },
  ];
  return (
    <Card
      id={id}
      title={title}
      nav={nav}
      about={`${view.finding}.`}
      tools={
        view.choices.length < 2 ? undefined : (
          <Choice
            label={`${title}: what is counted`}
            names={view.choices.map(({ name }) => name)}
            chosen={chosen}
            onChoice={setChosen}
          />
        )
      }
    >
      <ResultTable label={title} rows={rows} columns={columns} />
      <p class="legend">
        {view.key.map(({ hue: index, name, what }) => (
          <Key key={name} hue={PART_HUES[index % PART_HUES.length] ?? '--s1'}>
            {what === '' ? name : `${name}: ${what}`}
          </Key>
        ))}
      </p>
      <Figures title={title} view={view} caption={view.caption} />
    </Card>
  );
}

/** A small chart for each arm, all on the same axes, with the baseline's line behind each. */
export function PanelsCard({ id, title, nav, view }: FigureProps & { readonly view: PanelsView }) {
  const { panels, x, y } = view;
  const points = panels.flatMap((panel) => [...panel.line, ...panel.upper, ...panel.dots]);
  const xs = [
    ...points.map((point) => point.x),
    ...panels.flatMap(({ lost, mark }) => [...lost, ...(mark === null ? [] : [mark])]),
  ];
  const ys = points.map((point) => point.y);
  const base = panels[0]?.line ?? [];
  return (
    <Card id={id} title={title} nav={nav} about={`${view.finding}.`}>
      <div class="panels">
        {panels.map((panel) => (
          <div key={panel.label}>
            <h3>{showHidden(panel.label)}</h3>
            <p class="about">{panel.note}</p>
            <Chart
              label={`${title}: ${panel.label}`}
              of={view}
              draw={(width) => ({
                height: 180,
                marginLeft: 44,
                marginBottom: 34,
                marginTop: 14,
                x: {
                  type: x.isLog ? 'log' : 'linear',
                  domain: widen(xs, x.isLog),
                  label: x.label,
                  ticks: x.ticks === null ? Math.max(2, width / 70) : [...x.ticks],
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
                  dot(panel.dots, { x: 'x', y: 'y', r: 2, fill: 'var(--s1)', fillOpacity: 0.45 }),
                  line(panel.upper, {
                    x: 'x',
                    y: 'y',
                    stroke: 'var(--s1)',
                    strokeWidth: 1,
                    strokeOpacity: 0.7,
                  }),
                  line(panel.line, { x: 'x', y: 'y', stroke: 'var(--s1)', strokeWidth: 2.5 }),
                  dot(panel.line, { x: 'x', y: 'y', r: 2.5, fill: 'var(--s1)' }),
                  tickX(panel.lost, { x: (value: number) => value, stroke: 'var(--bad)', strokeWidth: 2 }),
                  panel.mark === null
                    ? null
                    : ruleX([panel.mark], { stroke: 'var(--s2)', strokeDasharray: '4 3' }),
                  tip([...panel.line, ...panel.upper], pointer({ x: 'x', y: 'y', title: 'title' })),
                ],
              })}
            />
          </div>
        ))}
      </div>
      <Figures title={title} view={view} caption={view.caption} />
    </Card>
  );
}

function widen(values: readonly number[], isLog: boolean): [number, number] {
  const known = isLog ? values.filter((value) => value > 0) : values;
  const [low, high] = [Math.min(...known), Math.max(...known)];
  if (!Number.isFinite(low)) return isLog ? [1, 10] : [0, 1];
  return isLog ? [low * 0.9, high * 1.1] : [Math.min(0, low), high * 1.05 || 1];
}

/** Distributions of times on one logarithmic axis: a row for each, with its median and its 99th percentile. */
export function DensitiesCard({ id, title, nav, view }: FigureProps & { readonly view: DensitiesView }) {
  const edges = view.densities.flatMap(({ edgesMs }) => [edgesMs[0] ?? 1, edgesMs.at(-1) ?? 1]);
  const [low, high] = [Math.min(...edges), Math.max(...edges)];
  return (
    <Card id={id} title={title} nav={nav} about={`${view.finding}.`}>
      {view.densities.map(({ label, text, edgesMs, heights, p50Ms, p99Ms }) => (
        <div key={label} class="density">
          <p>
            <b>{showHidden(label)}</b> <span class="about">{text}</span>
          </p>
          <Chart
            label={`${title}: ${label}`}
            of={view}
            draw={(width) => {
              const ticks = listLogTicks(low, high, width / 80);
              const bins = heights.map((height, index) => ({
                x1: edgesMs[index],
                x2: edgesMs[index + 1],
                height,
              }));
              return {
                height: 70,
                marginLeft: 6,
                marginRight: 6,
                marginTop: 4,
                marginBottom: 22,
                x: {
                  type: 'log',
                  domain: [low, high],
                  label: null,
                  ticks,
                  tickFormat: (ms: number) => `${formatTick(ms)} ms`,
                },
                y: { domain: [0, 1], axis: null },
                marks: [
                  gridX({ ticks, stroke: 'var(--line)', strokeOpacity: 1 }),
                  rectY(bins, { x1: 'x1', x2: 'x2', y: 'height', fill: 'var(--s1)', inset: 0 }),
                  ruleX([p50Ms], { stroke: 'var(--ink)', strokeWidth: 2 }),
                  p99Ms === null ? null : ruleX([p99Ms], { stroke: 'var(--s2)', strokeWidth: 2 }),
                ],
              };
            }}
          />
        </div>
      ))}
      <p class="legend">
        <Key hue="--ink">median</Key>
        <Key hue="--s2">99th percentile</Key>
      </p>
      <Figures title={title} view={view} caption={view.caption} />
    </Card>
  );
}

export function SamplesCard({
  id,
  title,
  view,
  about,
}: FigureProps & { view: DistributionsView; about: string }) {
  const rows = view.distributions;
  const [low, high] = [
    Math.min(...rows.flatMap(({ samplesMs }) => samplesMs)),
    Math.max(...rows.flatMap(({ samplesMs }) => samplesMs)),
  ];
  const ticksOf = rows.flatMap(({ label, samplesMs }) => samplesMs.map((ms) => ({ label, ms })));
  return (
    <Card id={id} title={title} about={`${view.finding}. ${about}`} size="half">
      <Chart
        label={title}
        of={view}
        draw={(width) => {
          const ticks = listLogTicks(low, high, width / 70);
          return {
            height: rows.length * 28 + 48,
            marginLeft: 110,
            x: {
              type: 'log',
              domain: [low * 0.97, high * 1.03],
              label: 'milliseconds',
              ticks,
              tickFormat: String,
            },
            y: { label: null, domain: rows.map(({ label }) => label) },
            marks: [
              gridX({ ticks, stroke: 'var(--line)', strokeOpacity: 1 }),
              tickX(ticksOf, { x: 'ms', y: 'label', stroke: 'var(--s1)', strokeOpacity: 0.5, inset: 6 }),
              dot(rows, {
                x: 'medianMs',
                y: 'label',
                fill: 'var(--card)',
                stroke: 'var(--ink)',
                r: 4,
                strokeWidth: 2,
              }),
            ],
          };
        }}
      />
      <Figures title={title} view={view} />
    </Card>
  );
}

/** A link that saves the measured file as it was written. */
export function SaveFile({ file, name }: { readonly file: object; readonly name: string }) {
  return (
    <a
      href={`#${name}`}
      download={name}
      onClick={({ currentTarget }) => {
        const blob = new Blob([`${JSON.stringify(file, null, 2)}\n`], { type: 'application/json' });
        currentTarget.href = URL.createObjectURL(blob);
        setTimeout(() => URL.revokeObjectURL(currentTarget.href), 60_000);
      }}
    >
      {`save ${name}`}
    </a>
  );
}
