import type { RunData } from '../../report/run/run-data.ts';
import { count, formatDecimals } from '../../terminal/table.ts';
import { Stack } from '../chart.tsx';
import { Card } from '../parts.tsx';
import { type Column, ResultTable } from '../result-table.tsx';

type Metrics = RunData['metrics'];

/** The purposes of bytes: the lines of the ledger, each with its colour. */
export const BYTE_PARTS = [
  { key: 'payload', name: 'payload', hue: '--s1', explain: 'Bytes of what packets say, as compact JSON.' },
  {
    key: 'envelope',
    name: 'envelope',
    hue: '--s2',
    explain: 'Bytes that name type, sender, task and the like.',
  },
  { key: 'framing', name: 'framing', hue: '--s5', explain: 'Bytes that say how long a frame is.' },
  {
    key: 'payload_coding',
    name: 'coding',
    hue: '--s4',
    explain: 'Bytes that the adapter writes for the payload beyond compact JSON; below 0 it saves some.',
  },
  {
    key: 'layers',
    name: 'layers',
    hue: '--s3',
    explain: 'Bytes that compression, signatures and encryption add; below 0 they save some.',
  },
] as const;

interface Step {
  readonly name: string;
  readonly bytes: number;
  readonly isSum: boolean;
}

/** A table from the bytes of payloads to the bytes on the sockets; every byte counts on one line. */
export function ByteBridge({ metrics }: { readonly metrics: Metrics }) {
  const steps = listSteps(metrics);
  const most = Math.max(1, ...steps.map(({ bytes }) => Math.abs(bytes)));
  const columns: Column<Step>[] = [
    { header: 'bytes of', value: ({ name }) => name },
    {
      header: 'bytes',
      isNumber: true,
      value: ({ bytes }) => bytes,
      format: count,
      explain: 'Counted where the hub reads and writes frames; sums are in bold.',
      cell: ({ bytes, isSum }) => (isSum ? <strong>{count(bytes)}</strong> : count(bytes)),
    },
    {
      header: 'share',
      value: () => '',
      cell: ({ bytes, isSum }) => (
        <Stack
          parts={[{ name: 'bytes', value: Math.abs(bytes), hue: isSum ? '--muted' : '--s1' }]}
          low={0}
          high={most}
        />
      ),
    },
  ];
  const { balanced, total } = metrics.ledger;
  return (
    <Card
      size="half"
      title="From payload to the sockets"
      nav="Bytes"
      id="bytes"
      about={`Every byte is on one line.${balanced && metrics.ledger.written !== undefined ? ' The last equals the operating system’s counters.' : ''} The wire carries ${formatDecimals(total.wire / Math.max(1, total.payload), 2)}× the payload.`}
    >
      <ResultTable label="From payload to the sockets" rows={steps} columns={columns} />
    </Card>
  );
}

function listSteps({ ledger }: Metrics): Step[] {
  const { total, written, read } = ledger;
  const once: Step[] = BYTE_PARTS.filter(({ key }) => key === 'payload' || total[key] !== 0).map(
    ({ key, name }) => ({
      name: key === 'payload' ? 'payload, as compact JSON' : `+ ${name}`,
      bytes: total[key],
      isSum: false,
    }),
  );
  once.push({ name: '= each packet once', bytes: total.wire, isSum: true });
  if (written === undefined || read === undefined) return once;
  const both = written.packets + read.packets;
  const more = [
    ['+ further copies of packets', both - total.wire],
    ['+ handshake and ledger', written.session + read.session],
    ['+ acknowledgements', written.acks + read.acks],
    ['+ refused, torn or repeated frames', read.refused + read.torn + read.repeated],
  ] as const;
  return [
    ...once,
    ...more.filter(([, bytes]) => bytes !== 0).map(([name, bytes]) => ({ name, bytes, isSum: false })),
    {
      name: '= sockets of the hub, both ways',
      bytes: written.sockets + read.sockets,
      isSum: true,
    },
  ];
}
