import type { LedgerLine } from '@gaia-mesh/core/contracts/ledger.ts';
import { count, toOneLine } from '../../terminal/table.ts';
import { createTableView, type TableView } from '../../terminal/table-view.ts';
import { formatBytes, formatSignedBytes } from '../wording.ts';

/** Purposes of bytes: the lines of the ledger, in the order in which they are drawn. */
const BYTE_PARTS = ['payload', 'envelope', 'framing', 'payload_coding', 'layers'] as const;
type BytePart = (typeof BYTE_PARTS)[number];

const PART_NAMES: Readonly<Record<BytePart, string>> = {
  payload: 'payload',
  envelope: 'envelope',
  framing: 'framing',
  payload_coding: 'coding',
  layers: 'layers',
};

/** From one running total to the next; `to` is below `from` where the part saves bytes. */
interface WaterfallStep {
  readonly part: BytePart;
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

export interface ByteWaterfall {
  readonly label: string;
  readonly wire: number;
  readonly payload: number;
  /** Parts that add bytes come first, those that save some last, so the last step ends at `wire`. */
  readonly steps: readonly WaterfallStep[];
  /** 0, unless the file is not to be trusted: what the parts lack to the bytes on the wire. */
  readonly unexplained: number;
  /** Labels at the end of the bar: for all bytes, and for those beyond the payload. */
  readonly text: string;
  readonly netText: string;
}

/** Waterfalls as a chart and as a table. */
export interface BytesView {
  readonly finding: string;
  readonly waterfalls: readonly ByteWaterfall[];
  readonly table: TableView;
}

/** A line of the ledger as steps from 0 to what was on the wire; `text` is what is read at the end of its bar. */
export function buildByteWaterfall(
  label: string,
  line: LedgerLine,
  text: string = formatBytes(line.wire),
): ByteWaterfall {
  const { wire, payload } = line;
  const adding = BYTE_PARTS.filter((part) => line[part] > 0);
  const saving = BYTE_PARTS.filter((part) => line[part] < 0);
  const steps: WaterfallStep[] = [];
  let total = 0;
  for (const part of [...adding, ...saving]) {
    const to = total + line[part];
    steps.push({ part, from: total, to, text: `${PART_NAMES[part]} ${formatSignedBytes(line[part])}` });
    total = to;
  }
  const netText = formatSignedBytes(wire - payload);
  return { label: toOneLine(label, 64), wire, payload, steps, unexplained: wire - total, text, netText };
}

/** Builds the table of exact figures, one row for each waterfall. */
export function buildBytesTable(lines: readonly (readonly [label: string, line: LedgerLine])[]): TableView {
  return createTableView(
    ['', '#packets', ...BYTE_PARTS.map((part) => `#${PART_NAMES[part]}`), '#on the wire'],
    lines.map(([label, line]) => [
      toOneLine(label, 64),
      count(line.packets),
      ...BYTE_PARTS.map((part) => count(line[part])),
      count(line.wire),
    ]),
  );
}
