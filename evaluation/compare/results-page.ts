import type { ProtocolAdapter } from '../../core/contracts/adapter.ts';
import { readRecording } from '../../core/recording/read-archive.ts';
import { type MeasuredPart, writeMeasured } from '../terminal/docs-page.ts';
import { complain } from '../terminal/print.ts';
import { count } from '../terminal/table.ts';
import { markdownOf, tableView } from '../terminal/table-view.ts';
import { type ComparisonFile, hasMatrix } from './comparison-file.ts';
import {
  COLUMNS_EXPLAINED,
  comparisonTable,
  matrixTable,
  nullTestText,
  openText,
  playedText,
  taskShareText,
} from './comparison-table.ts';
import { httpSection } from './http/http-section.ts';
import { type HttpCosts, measureHttp } from './http/measure-http.ts';

interface Compared {
  /** Archive of the run that the report is about. */
  readonly archive: string;
  readonly adapters: readonly ProtocolAdapter[];
  /** Arguments of the command, its name first. */
  readonly args: readonly string[];
  readonly signal: AbortSignal;
}

/** Measures what HTTP and TLS add, and writes the measured part of the results page, `file`. */
export async function writeResults(
  file: string,
  report: ComparisonFile,
  { archive, adapters, args, signal }: Compared,
): Promise<void> {
  complain('what HTTP and TLS add …');
  const http = await measureHttp(await readRecording(archive), adapters, signal);
  await writeMeasured(file, args, comparisonPart(report, http));
}

/** The measured part of `docs/results/comparison.md`. */
export function comparisonPart(report: ComparisonFile, http: HttpCosts): MeasuredPart {
  const { team, engine, agents } = report;
  const growth = hasMatrix(report) ? `\n## How the cost grows\n\n${markdownOf(matrixTable(report))}\n` : '';
  return {
    facts: `team ${team}, engine ${engine}, ${agents} agents; ${playedText(report)}`,
    limits: limitsOf(report),
    body: `## Adapters

${markdownOf(comparisonTable(report))}

All adapters carry the same packets, which were recorded once. Each invocation of each adapter is a set of fresh processes; adapters take
turns within a round, in random order. ${COLUMNS_EXPLAINED}

${[report.sentence, openText(report), ...report.warnings.map((warning) => `Warning: ${warning}.`)].filter((text) => text !== null).join('\n\n')}

${taskShareText(report)}

The null test: ${nullTestText(report)}.

## Where the bytes are

${partsTable(report)}

\`payload\` is what the application says, as JSON; \`envelope\` what is around it; \`payload coding\` what this way of writing the payload adds
or saves; \`layers\` what signatures, encryption, checksums and compression do; \`framing\` the length before each packet. They sum to
\`wire\`, and that over the run to what the sockets counted.
${growth}
## What HTTP and TLS add

${httpSection(http, report)}`,
  };
}

function partsTable({ adapters }: ComparisonFile): string {
  const titles = ['adapter', 'payload', 'envelope', 'payload coding', 'layers', 'framing', 'wire'];
  const rows = adapters.map(({ adapter, ledger: { total } }) => [
    adapter,
    ...[total.payload, total.envelope, total.payload_coding, total.layers, total.framing, total.wire].map(
      count,
    ),
  ]);
  return markdownOf(tableView(titles, rows));
}

function limitsOf({ adapters, agents, packets, tasks, environment }: ComparisonFile): string[] {
  const payload = adapters[0]?.ledger.total.payload ?? 0;
  return [
    'Loopback is not a network. It has no distance, no loss and no narrow line: where a byte costs time, sizes weigh more than here.',
    'A2A and MCP normally ride on HTTP and TLS, and so does ANP. The adapters write their messages into the frames of the mesh; what ' +
      'HTTP and TLS add is shown beside, in bytes, measured once, with the real SDK where there is one. Their time was not measured.',
    'Broadcast is not their request model. There a client asks one server, which answers; here a packet goes to all, and nothing ' +
      'is acknowledged.',
    `It is one recorded run of ${packets} small packets (${tasks} task(s), ${count(payload / packets)} bytes of payload a packet): with larger ones ` +
      'envelopes weigh less, with other contents codings do.',
    `The hub and ${agents} agents shared ${environment.cpus} cores, so times hold waits for one; with a core for each they would be others.`,
    'Times are those of these libraries, in JavaScript: of what implements a format, not of the format.',
  ];
}
