import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ComparedArm, ComparisonFile, StacksComparison } from '../../compare/comparison-file.ts';
import { formatInterval, formatName, METRIC_NAMES } from '../../compare/verdict-text.ts';
import { HUES, Stack, type StackPart } from '../chart.tsx';
import { formatCount, formatRatio, formatSigned, toLine } from '../format.ts';
import { Badge, Card, Choice, Key } from '../parts.tsx';
import { type Column, ResultTable } from '../result-table.tsx';
import { BYTE_PARTS } from '../run/bytes.tsx';

interface BarRow {
  readonly arm: ComparedArm;
  readonly parts: readonly StackPart[];
}

/** Lines of an exchange's bytes in the order in which they lie on each other. */
const LINES = [
  { key: 'payload', name: 'payload', hue: '--s1' },
  { key: 'envelope', name: 'envelope', hue: '--s2' },
  { key: 'head', name: 'heads of HTTP and frames', hue: '--s3' },
  { key: 'tls', name: 'TLS', hue: '--s4' },
] as const;

function listByteRows(file: ComparisonFile): BarRow[] {
  if (file.kind === 'adapters')
    return file.arms.map((arm) => ({
      arm,
      parts: BYTE_PARTS.map(({ key, name, hue }) => ({ name, hue, value: arm.ledger.total[key] })),
    }));
  return file.arms.map((arm) => {
    const { sent, received, exchanges } = arm.bytes;
    return {
      arm,
      parts: LINES.map(({ key, name, hue }) => ({
        name,
        hue,
        value: (sent[key] + received[key]) / exchanges,
      })),
    };
  });
}

/** Bytes by what they are for: what a coding saves is left of nothing, what an envelope costs is right of it. */
export function ArmBytesCard({ file }: { readonly file: ComparisonFile }) {
  const [isWhole, setWhole] = useState(0);
  const each = file.kind === 'adapters' ? '' : ' an exchange';
  const all = listByteRows(file);
  const payload = all[0]?.parts.find(({ name }) => name === 'payload')?.value ?? 0;
  return (
    <BarsCard
      title={`What the bytes${each === '' ? '' : ' of an exchange'} are for`}
      id="bytes"
      nav="Bytes"
      about={`Bytes are exact. ${formatCount(payload)} B of payload${each} are the same for all; a bar left of the line is saved, one right of it is spent.`}
      sum={isWhole === 1 ? `bytes${each}` : `beyond the payload${each === '' ? '' : ', an exchange'}`}
      explain="Exact bytes, counted where they are written."
      format={isWhole === 1 ? formatCount : formatSigned}
      rows={all.map(({ arm, parts }) => ({
        arm,
        parts: parts.filter(({ name, value }) => value !== 0 && (isWhole === 1 || name !== 'payload')),
      }))}
      tools={
        <Choice
          label="Bytes"
          names={['beyond the payload', 'all bytes']}
          chosen={isWhole}
          onChoice={setWhole}
        />
      }
    />
  );
}

/** CPU time of each side of an exchange. */
export function CpuCard({ file }: { readonly file: StacksComparison }) {
  return (
    <BarsCard
      title="CPU time of an exchange"
      id="cpu"
      nav="CPU"
      about="Microseconds of the whole process of each side, one exchange at a time: medians over rounds."
      sum="µs an exchange"
      explain="User and system time of the processes of client and server, by the operating system."
      format={formatCount}
      rows={file.arms.map((arm) => ({
        arm,
        parts: (['client', 'server'] as const).flatMap((side, place) => [
          { name: `${side}, user`, hue: HUES[place * 2] ?? '--s1', value: arm.cpu[side].user },
          { name: `${side}, system`, hue: HUES[place * 2 + 1] ?? '--s1', value: arm.cpu[side].system },
        ]),
      }))}
    />
  );
}

interface BarsCardProps {
  readonly title: string;
  readonly id: string;
  readonly nav: string;
  readonly about: string;
  /** Heading of the sum of the parts, and how it was measured. */
  readonly sum: string;
  readonly explain: string;
  readonly format: (value: number) => string;
  readonly rows: readonly BarRow[];
  readonly tools?: ComponentChildren;
}

/** Bars of parts on one scale, an arm a row. */
function BarsCard({ rows, sum, explain, format, ...card }: BarsCardProps) {
  const total = ({ parts }: BarRow) => parts.reduce((all, { value }) => all + value, 0);
  const reach = ({ parts }: BarRow, way: 1 | -1) =>
    parts.reduce((all, { value }) => all + Math.max(0, way * value), 0);
  const low = -Math.max(0, ...rows.map((row) => reach(row, -1)));
  const high = Math.max(1, ...rows.map((row) => reach(row, 1)));
  const keys = new Map(rows.flatMap(({ parts }) => parts.map(({ name, hue }) => [name, hue] as const)));
  const columns: Column<BarRow>[] = [
    { header: 'arm', value: ({ arm }) => formatName(arm.name) },
    { header: sum, isNumber: true, value: total, format, explain },
    {
      header: 'by what they are for',
      value: () => '',
      cell: ({ parts }) => <Stack parts={parts} low={low} high={high} />,
    },
  ];
  return (
    <Card {...card}>
      <ResultTable label={card.title} rows={rows} columns={columns} />
      <p class="legend">
        {[...keys].map(([name, hue]) => (
          <Key key={name} hue={hue}>
            {name}
          </Key>
        ))}
      </p>
    </Card>
  );
}

/** A share of a difference, or the whole of it, as a step from one ratio to the next. */
interface Step {
  readonly arm: string;
  readonly change: string;
  readonly from: number;
  readonly ratio: number;
  readonly interval: string;
  readonly verdict: string;
}

/** The cost of each change on the way from the baseline to a stack: steps that multiply to the whole. */
export function CausesCard({ file: { attributions, baseline } }: { readonly file: StacksComparison }) {
  const figures = [...Map.groupBy(attributions, ({ figure }) => figure)];
  const [chosen, setChosen] = useState(0);
  const [figure, own] = figures[chosen] ?? figures[0] ?? [];
  if (figure === undefined || own === undefined) return null;
  const rows = own.flatMap(({ arm, total, shares }): Step[] => {
    let reached = 1;
    const steps = shares.map(({ factor, from, to, share, verdict }) => {
      const step = {
        arm: formatName(arm),
        change: toLine(`${factor}: ${from} → ${to}`, 80),
        verdict,
        from: reached,
        ratio: share.ratio,
        interval: formatInterval(share),
      };
      reached *= share.ratio;
      return step;
    });
    const whole = {
      arm: formatName(arm),
      change: 'all changes',
      verdict: 'whole',
      from: 1,
      ratio: total.ratio,
      interval: formatInterval(total),
    };
    return [...steps, whole];
  });
  const ends = rows.flatMap(({ from, ratio }) => [from, from * ratio]).map(Math.log);
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  const place = (ratio: number) => ((Math.log(ratio) - low) / (high - low || 1)) * 100;
  const columns: Column<Step>[] = [
    { header: 'stack', value: ({ arm }) => arm },
    { header: 'change', isText: true, value: ({ change }) => change },
    {
      header: 'step',
      value: () => '',
      cell: ({ from, ratio, verdict }) => {
        const [start, end] = [place(from), place(from * ratio)];
        return (
          <svg class="forest stack" viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden="true">
            <line class="zero" x1={place(1)} x2={place(1)} y1={-4} y2={18} />
            <rect
              x={Math.min(start, end)}
              width={Math.max(0.5, Math.abs(end - start))}
              y={1}
              height={12}
              style={{
                fill: `var(${verdict === 'whole' ? '--ink' : ratio > 1 ? '--s2' : '--s3'})`,
                opacity: verdict === 'contributes' || verdict === 'whole' ? 1 : 0.35,
              }}
            />
          </svg>
        );
      },
    },
    {
      header: 'ratio',
      isNumber: true,
      value: ({ ratio }) => ratio,
      format: formatRatio,
      explain: 'Times what it was before this change, by the medians of fresh processes.',
    },
    {
      header: '95 % interval',
      isNumber: true,
      isWide: true,
      value: ({ interval }) => interval,
      explain: 'Interval of the ratio over fresh processes.',
    },
    { header: 'verdict', value: ({ verdict }) => verdict, cell: ({ verdict }) => <Badge>{verdict}</Badge> },
  ];
  return (
    <Card
      title="What each change costs"
      nav="Changes"
      id="causes"
      about={`Times the ${METRIC_NAMES[figure]} of ${formatName(baseline)}, on a logarithmic scale; the steps of a stack multiply to the whole. Faint: a share that cannot be told from none. What was never changed one without the other has one share.`}
      tools={
        figures.length < 2 ? undefined : (
          <Choice
            label="Figure of the changes"
            names={figures.map(([one]) => METRIC_NAMES[one])}
            chosen={chosen}
            onChoice={setChosen}
          />
        )
      }
    >
      <ResultTable label="What each change costs" rows={rows} columns={columns} />
    </Card>
  );
}
