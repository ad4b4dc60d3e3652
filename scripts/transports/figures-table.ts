import { MeshError } from '../../core/errors.ts';
import { markdownTable } from '../markdown-table.ts';
import type { Figure, TransportFigures } from './measure.ts';

const BEGIN = '<!-- measured: npm run transports -- --write -->';
const END = '<!-- end of what was measured -->';

/** The figures as a Markdown table, with what they mean. */
export function figuresTable({ figures, rounds, packet_bytes }: TransportFigures): string {
  const rows = figures.map((figure) => [
    figure.what,
    shown(figure.tcp, figure.unit),
    shown(figure.nats, figure.unit),
    `${ratioOf(figure.time)} (${figure.time.verdict})`,
    ratioOf(figure.null_test),
  ]);
  const head = ['', 'TCP', 'NATS', 'time, NATS : TCP', 'TCP : TCP'];
  const bytes =
    packet_bytes.tcp === packet_bytes.nats
      ? `Bytes of packets on all connections of the run: ${packet_bytes.tcp.toLocaleString('en-US')}, over both.`
      : `Bytes of packets on all connections of the run: ${packet_bytes.tcp} over TCP, ${packet_bytes.nats} over NATS.`;
  return `${markdownTable([head, ...rows])}\n\n${rounds} interleaved rounds, medians; ratios within a round, with 95 % intervals. ${bytes}`;
}

function ratioOf({ ratio, low, high }: Pick<Figure['time'], 'ratio' | 'low' | 'high'>): string {
  return `${ratio.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;
}

function shown(value: number, unit: string): string {
  const digits = value < 10 ? 2 : value < 1000 ? 1 : 0;
  return `${value.toLocaleString('en-US', { maximumFractionDigits: digits })} ${unit}`;
}

/** The page with `text` between its two markers. */
export function withMeasured(page: string, text: string): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) {
    throw new MeshError('io', `docs/nats.md: expected the markers ${BEGIN} and ${END}`);
  }
  return `${before}${BEGIN}\n${text}\n${END}${after}`;
}
