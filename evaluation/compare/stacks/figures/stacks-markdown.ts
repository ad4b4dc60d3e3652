import type { MeasuredPart } from '../../../terminal/docs-page.ts';
import { escapeMarkdown } from '../../../terminal/markdown-table.ts';
import { formatMarkdown } from '../../../terminal/table-view.ts';
import { buildAttributionTables } from './stack-attribution.ts';
import type { StacksFile } from './stacks-file.ts';
import {
  buildBytesTable,
  buildCpuTable,
  buildTimeTable,
  describeMeasurement,
  describeNullTest,
  listAbsences,
} from './stacks-table.ts';
import { FIGURE_NAMES, formatPair } from './stacks-text.ts';
import { buildTokenTables, describeTokens } from './tokens-table.ts';

/** Formats the comparison as a Markdown file. */
export function formatStacksMarkdown(file: StacksFile): string {
  const { body, limits } = formatStacksPart(file);
  const shown = limits.map((limit) => `- ${escapeMarkdown(limit)}`).join('\n');
  return `${body}\n\n## What these numbers cannot tell\n\n${shown}\n`;
}

/** Formats the measured part of `docs/results/stacks.md`. */
export function formatStacksPart(file: StacksFile): MeasuredPart {
  const absent = listAbsences(file);
  const sections = [
    [file.sentence, ...file.warnings.map((warning) => `Warning: ${warning}.`), `${describeNullTest(file)}.`]
      .map(escapeMarkdown)
      .join('\n\n'),
    `## Time an exchange\n\n${formatMarkdown(buildTimeTable(file))}\n\n${TIME}\n\n${formatPairLines(file, 'latency', FIGURE_NAMES.latency_us)}`.trimEnd(),
    `## Bytes an exchange\n\n${formatMarkdown(buildBytesTable(file))}\n\n${BYTES}`,
    `## CPU time and throughput\n\n${formatMarkdown(buildCpuTable(file))}\n\n${CPU}\n\n${formatPairLines(file, 'cpu', FIGURE_NAMES.cpu_us)}`.trimEnd(),
    formatAttributionSection(file),
    formatTokensSection(file),
    ...(absent.length === 0
      ? []
      : [`## Not measured\n\n${absent.map((line) => `- ${escapeMarkdown(line)}`).join('\n')}`]),
  ];
  return {
    facts: describeMeasurement(file),
    body: sections.filter((section) => section !== '').join('\n\n'),
    limits: listLimits(file),
  };
}

const TIME =
  'Exchanges begin at fixed times, whether or not earlier ones have ended, and each is measured from its due time. Percentiles for which ' +
  'the sample is too small are left out. `detects` is the smallest ratio, or its inverse, that this many invocations detect in four of five ' +
  'measurements.';

const BYTES =
  'Means over one pass through the exchanges with an answer, on a session in use, in both directions; `~` if passes differed. `one way`: bytes ' +
  'of an exchange without an answer beyond its payload, including the acknowledgement of the protocol. `envelope`: bytes of the messages ' +
  'beyond the payload as compact JSON; negative if a protocol encodes the payload in fewer bytes. The lines add up to the counters of the ' +
  'sockets or pipes at both ends. `paid back`: exchanges after which a set-up that takes more bytes, or more time, than the ' +
  "baseline's has paid for itself.";

const CPU =
  'CPU time, user and system, of the whole process of each side, with one exchange at a time. `/s at 16`: exchanges a second with sixteen ' +
  'at once. `knee`: the highest load at which the median is less than ten times that of the lowest. `kept`: bytes that the server retains ' +
  'of each exchange while one task grows.';

/** Maximum pairs described in text; for more, the table has to do. */
const MAX_PAIR_LINES = 5;

function formatPairLines({ arms, baseline }: StacksFile, figure: 'latency' | 'cpu', what: string): string {
  const lines = arms.flatMap(({ name, vs_baseline: vs }) => {
    const verdict = vs?.[figure];
    return verdict === null || verdict === undefined
      ? []
      : [`- ${escapeMarkdown(formatPair(baseline, name, verdict, what))}`];
  });
  return lines.length <= MAX_PAIR_LINES ? lines.join('\n') : '';
}

function formatAttributionSection(file: StacksFile): string {
  const tables = buildAttributionTables(file);
  if (tables.length === 0) return '';
  const about =
    'For stacks that differ from the baseline in several factors: the ratio that the change of each factor causes, with its 95 % interval. ' +
    'The shares of a row multiply to the whole. Each is what its change adds to those before it, averaged over the orders of changes whose ' +
    'every step was measured. `=`: shown to be within the margin; `?`: undecided. Factors that only changed together have one share; a stack ' +
    'with one of the changes alone would separate them.';
  return `## What makes the difference\n\n${about}\n\n${tables.map(formatMarkdown).join('\n\n')}`;
}

function formatTokensSection(file: StacksFile): string {
  return `## Tokens that a model reads\n\n${escapeMarkdown(describeTokens(file))}\n\n${buildTokenTables(file).map(formatMarkdown).join('\n\n')}`;
}

function listLimits({ environment, arms, invocations }: StacksFile): string[] {
  return [
    'Loopback is not a network. It has no distance, no loss and no narrow link: where a byte or a round trip costs time, sizes and set-up matter more than here.',
    `Client and server shared ${environment.cpus} cores with each other and with the command.`,
    'Times and CPU measure these JavaScript implementations on this version of Node, not the protocols themselves. That is why an SDK and the bare implementation of the same protocol stand side by side.',
    'CPU time includes the test client and server, which are the same for all stacks; the ratio of two stacks would be larger without them.',
    'Exchanges without an answer count in the bytes but not in the times: some protocols acknowledge them, others do not, and a written message has not necessarily arrived.',
    'The time of a set-up is that of the first session of a process, with cold code. For clients that connect at first use, that time is part of their first exchange; its bytes are in the set-up.',
    ...(invocations < 5 ? [`${invocations} invocations of each are too few for a verdict on time.`] : []),
    ...(arms.some(({ bytes }) => !bytes.is_repeatable)
      ? [
          'Bytes marked `~` depend on timing: polls, keep-alives, flow control. They are a single measurement.',
        ]
      : []),
  ];
}
