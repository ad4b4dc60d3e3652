import type { MeasuredPart } from '../terminal/docs-page.ts';
import { count } from '../terminal/table.ts';
import { createTableView, formatMarkdown } from '../terminal/table-view.ts';
import { type ComparisonFile, hasMatrix } from './comparison-file.ts';
import {
  buildComparisonTable,
  buildMatrixTable,
  COLUMNS_EXPLAINED,
  describeNullTest,
  describePlayed,
  describeTaskShare,
  openText,
} from './comparison-table.ts';

/** The measured part of `docs/results/comparison.md`. */
export function buildComparisonPart(report: ComparisonFile): MeasuredPart {
  const { team, engine, agents } = report;
  const growth = hasMatrix(report)
    ? `\n## How the cost grows\n\n${formatMarkdown(buildMatrixTable(report))}\n`
    : '';
  return {
    facts: `team ${team}, engine ${engine}, ${agents} agents; ${describePlayed(report)}`,
    limits: listLimits(report),
    body: `## Adapters

${formatMarkdown(buildComparisonTable(report))}

All adapters carry the same packets, which were recorded once. Each invocation of each adapter is a set of fresh processes; adapters take
turns within a round, in random order. ${COLUMNS_EXPLAINED}

${[report.sentence, openText(report), ...report.warnings.map((warning) => `Warning: ${warning}.`)].filter((text) => text !== null).join('\n\n')}

${describeTaskShare(report)}

The null test: ${describeNullTest(report)}.

## Where the bytes are

${formatPartsTable(report)}

\`payload\` is what the application says, as JSON; \`envelope\` what is around it; \`payload coding\` what this way of writing the payload adds
or saves; \`layers\` what signatures, encryption, checksums and compression do; \`framing\` the length before each packet. They sum to
\`wire\`, and that over the run to what the sockets counted.
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
    'Loopback is not a network. It has no distance, no loss and no narrow line: where a byte costs time, sizes weigh more than here.',
    'A2A and MCP normally ride on HTTP and TLS, and so does ANP. The adapters write their messages into the frames of the mesh; what they ' +
      'take as people run them is in stacks.md.',
    'Broadcast is not their request model. There a client asks one server, which answers; here a packet goes to all, and nothing ' +
      'is acknowledged.',
    `It is one recorded run of ${packets} small packets (${tasks} task(s), ${count(payload / packets)} bytes of payload a packet): with larger ones ` +
      'envelopes weigh less, with other contents codings do.',
    `The hub and ${agents} agents shared ${environment.cpus} cores, so times hold waits for one; with a core for each they would be others.`,
    'Times are those of these libraries, in JavaScript: of what implements a format, not of the format.',
  ];
}
