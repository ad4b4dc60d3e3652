import { useState } from 'preact/hooks';
import type { ComparedArm, TrafficComparison } from '../../compare/comparison-file.ts';
import { formatName } from '../../compare/comparison-text.ts';
import { count } from '../../terminal/table.ts';
import { Bar, type BarPart, Legend } from '../chart.tsx';
import { formatSigned } from '../format.ts';
import { Card, Choice } from '../parts.tsx';
import { type Column, ResultTable } from '../result-table.tsx';
import { BYTE_PARTS } from '../run/run-page.tsx';

interface Row {
  readonly arm: ComparedArm;
  readonly parts: readonly BarPart[];
}

/** Lines of an exchange's bytes, in the order in which the bar stacks them. */
const LINES = [
  { key: 'payload', name: 'payload', hue: '--s1' },
  { key: 'envelope', name: 'envelope', hue: '--s2' },
  { key: 'head', name: 'heads of HTTP and frames', hue: '--s3' },
  { key: 'tls', name: 'TLS', hue: '--s4' },
] as const;

function listRows(file: TrafficComparison): Row[] {
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

/** Bytes by purpose, as bars around zero: savings of a coding stand on the left, costs such as an envelope on the right. */
export function ArmBytesCard({ file }: { readonly file: TrafficComparison }) {
  const [chosen, setChosen] = useState(0);
  const isWhole = chosen === 1;
  const each = file.kind === 'adapters' ? '' : ' of an exchange';
  const all = listRows(file);
  const payload = all[0]?.parts.find(({ name }) => name === 'payload')?.value ?? 0;
  const rows = all.map(({ arm, parts }) => ({
    arm,
    parts: parts.filter(({ name, value }) => value !== 0 && (isWhole || name !== 'payload')),
  }));
  const reach = ({ parts }: Row, way: 1 | -1) =>
    parts.reduce((sum, { value }) => sum + Math.max(0, way * value), 0);
  const low = -Math.max(0, ...rows.map((row) => reach(row, -1)));
  const high = Math.max(1, ...rows.map((row) => reach(row, 1)));
  const keys = [...new Map(rows.flatMap(({ parts }) => parts).map((part) => [part.name, part])).values()].map(
    ({ name, hue }) => ({ name, hue }),
  );
  const title = `What the bytes${each} are for`;
  const columns: Column<Row>[] = [
    { header: 'arm', value: ({ arm }) => formatName(arm.name) },
    {
      header: isWhole ? 'bytes' : 'beyond the payload',
      isNumber: true,
      value: ({ parts }) => parts.reduce((sum, { value }) => sum + value, 0),
      format: isWhole ? count : formatSigned,
      explain: 'Exact bytes, counted where they are written.',
    },
    {
      header: 'by what they are for',
      value: () => '',
      cell: ({ parts }) => <Bar parts={parts} low={low} high={high} />,
    },
  ];
  return (
    <Card
      title={title}
      id="bytes"
      nav="Bytes"
      about={`Bytes are exact. ${count(payload)} B of payload are the same for all; a bar left of the line is saved, one right of it is spent.`}
      tools={
        <Choice
          label="Bytes"
          names={['beyond the payload', 'all bytes']}
          chosen={chosen}
          onChoice={setChosen}
        />
      }
    >
      <ResultTable label={title} rows={rows} columns={columns} />
      <Legend parts={keys} />
    </Card>
  );
}
