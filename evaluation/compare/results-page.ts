import { explainColumns, formatColumnsMarkdown } from '../terminal/columns.ts';
import type { MeasuredPart } from '../terminal/docs-page.ts';
import { count } from '../terminal/table.ts';
import { createTableView, formatMarkdown } from '../terminal/table-view.ts';
import { type ComparisonFile, hasMatrix } from './comparison-file.ts';
import {
  buildMatrixTable,
  describeNullTest,
  describePlayed,
  describeTaskShare,
  listAdapterColumns,
  openText,
} from './comparison-table.ts';

/** Builds the measured part of `docs/results/comparison.md`. */
export function buildComparisonPart(report: ComparisonFile): MeasuredPart {
  const { team, engine, agents } = report;
  const columns = listAdapterColumns(report);
  const growth = hasMatrix(report)
    ? `\n## How the cost grows\n\n${formatMarkdown(buildMatrixTable(report))}\n`
    : '';
  return {
    facts: `team ${team}, engine ${engine}, ${agents} agents; ${describePlayed(report)}`,
    limits: listLimits(report),
    body: `## Adapters

${formatColumnsMarkdown(columns, report.adapters)}

All adapters carry the same packets, which were recorded once. Each invocation of each adapter is a set of fresh processes; adapters take
turns within a round, in random order. ${explainColumns(columns)}

${[report.sentence, openText(report), ...report.warnings.map((warning) => `Warning: ${warning}.`)].filter((text) => text !== null).join('\n\n')}

${describeTaskShare(report)}

The null test: ${describeNullTest(report)}.

## Where the bytes are

${formatPartsTable(report)}

\`payload\` is the application data as JSON; \`envelope\` is the message around it; \`payload coding\` is the bytes that this encoding of the payload adds
or saves; \`layers\` is the effect of signatures, encryption, checksums and compression; \`framing\` is the length before each packet. They sum to
\`wire\`, and over the run that matches the byte counts of the sockets.
${growth}`,
  };
}

function formatPartsTable({ adapters }: ComparisonFile): string {
  const titles = ['adapter', 'payload', 'envelope', 'payload coding', 'layers', 'framing', 'wire'];
  const rows = adapters.map(({ adapter, ledger: { total } }) => [
    adapter,
    ...[total.payload, total.envelope, total.payload_coding, total.layers, total.framing, total.wire].map(
      count,
    ),
  ]);
  return formatMarkdown(createTableView(titles, rows));
}

function listLimits({ adapters, agents, packets, tasks, environment }: ComparisonFile): string[] {
  const payload = adapters[0]?.ledger.total.payload ?? 0;
  return [
    'Loopback is not a network. It has no distance, no loss and no narrow link: where a byte costs time, sizes matter more than here.',
    'A2A, MCP and ANP normally run on HTTP and TLS. The adapters write their messages into the frames of the mesh; their cost on their usual ' +
      'transports is in stacks.md.',
    'Broadcast is not their request model. In these protocols a client asks one server, which answers; here a packet goes to all agents, and ' +
      'nothing is acknowledged.',
    `It is one recorded run of ${packets} small packets (${tasks} task(s), ${count(payload / packets)} bytes of payload a packet): with larger ones ` +
      'envelopes matter less; other contents change the effect of codings.',
    `The hub and ${agents} agents shared ${environment.cpus} cores, so times include waiting for a core; they would differ with a core for each.`,
    'Times measure these JavaScript libraries: implementations of a format, not the format itself.',
  ];
}
