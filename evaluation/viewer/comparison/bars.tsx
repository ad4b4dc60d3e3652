import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ComparedArm, ComparisonFile, StacksComparison } from '../../compare/comparison-file.ts';
import { formatName } from '../../compare/verdict-text.ts';
import { HUES, Stack, type StackPart } from '../chart.tsx';
import { formatCount, formatSigned } from '../format.ts';
import { Card, Choice, Key } from '../parts.tsx';
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
