import { noiseFloor } from '../../core/statistics/verdict.ts';
import { markdownTable } from '../markdown-table.ts';
import { count, decimals } from '../terminal/table.ts';
import type { ComparisonFile } from './comparison-report.ts';
import { httpSection } from './http-section.ts';
import { hasMatrix, matrixMarkdown } from './matrix.ts';
import type { HttpCosts } from './measure-http.ts';
import { adaptersMarkdown } from './tables.ts';

export interface PageFacts {
  readonly report: ComparisonFile;
  readonly http: HttpCosts;
  /** What was typed. */
  readonly command: string;
  readonly revision: string;
  /** As in 2026-11-21. */
  readonly date: string;
}

/** `docs/comparison.md` */
export function resultsPage({ report, http, command, revision, date }: PageFacts): string {
  const { team, engine, agents, packets, tasks, rounds, stopped, seed, environment } = report;
  const growth = hasMatrix(report) ? `\n## How the cost grows\n\n${matrixMarkdown(report.matrix)}` : '';
  return `# Comparison

Written by \`${command}\`; do not edit.

- ${machineOf(environment)}
- Gaia Mesh ${environment.gaia_mesh}, revision ${revision}; team ${team}, engine ${engine}, ${agents} agents
- ${date}; ${packets} packets of ${tasks} task(s), ${rounds} rounds (${STOPPED[stopped]}), seed ${seed}

## Adapters

${adaptersMarkdown(report)}

All adapters carry the same packets, which were recorded once, through the same live processes, in random order within each round.
*bytes*: all packets, each once, and × against \`${report.baseline}\`. *header*: of these, what is no payload and no saving. *session*: the handshake,
with keys and tables. *tokens*: what a model would read (o200k_base). *code µs*: to encode and decode a packet. *ms*: all tasks without
their tools, the median; *time*: the median of the ratios within rounds, with its 95 % interval.

${report.sentence}

${nullTest(report)}

## Where the bytes are

${partsTable(report)}

\`payload\` is what the application says, as JSON; \`envelope\` what is around it; \`payload coding\` what this way of writing the payload adds
or saves; \`layers\` what signatures, encryption, checksums and compression do; \`framing\` the length before each packet. They sum to
\`wire\`, and that over the run to what the sockets counted.
${growth}
## What HTTP and TLS add

${httpSection(http, report)}

## What these numbers cannot tell

${limits(report)}
`;
}

const STOPPED: Readonly<Record<ComparisonFile['stopped'], string>> = {
  precise: 'all intervals were narrow enough',
  rounds: 'as many as were allowed',
  budget: 'the time was over',
};

function machineOf({
  cpus,
  cpu,
  memory_bytes,
  platform,
  os_release,
  node,
}: ComparisonFile['environment']): string {
  const memory = Math.round(Number(memory_bytes) / 2 ** 30);
  return `${cpus} cores (${String(cpu).trim()}), ${memory} GiB, ${platform} ${os_release}, Node ${node}`;
}

function nullTest({ baseline, null_test }: ComparisonFile): string {
  const { ratio, low, high } = null_test;
  if (!Number.isFinite(null_test.high)) {
    return `The null test: \`${baseline}\` against itself had too few rounds for an interval, so no difference can be called one.`;
  }
  const floor = noiseFloor(null_test);
  return (
    `The null test: \`${baseline}\` was played twice in each round, and the second took ${decimals(ratio, 3)} times as long as the first (95 % ` +
    `interval ${decimals(low, 3)}–${decimals(high, 3)}), so whatever lies within ${decimals(floor.low, 3)}–${decimals(floor.high, 3)} is ` +
    'no difference here, since one and the same program differs as much from itself.'
  );
}

function partsTable({ adapters }: ComparisonFile): string {
  const head = ['adapter', 'payload', 'envelope', 'payload coding', 'layers', 'framing', 'wire'];
  const rows = adapters.map(({ adapter, ledger: { total } }) => [
    adapter,
    ...[total.payload, total.envelope, total.payload_coding, total.layers, total.framing, total.wire].map(
      count,
    ),
  ]);
  return markdownTable([head, ...rows]);
}

function limits({ adapters, agents, packets, tasks, environment }: ComparisonFile): string {
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
  ]
    .map((text) => `- ${text}`)
    .join('\n');
}
