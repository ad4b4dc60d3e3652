import type { MeasuredPart } from '../../../terminal/docs-page.ts';
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

/** The same as Markdown, for a file of its own. */
export function formatStacksMarkdown(file: StacksFile): string {
  const { body, limits } = formatStacksPart(file);
  const shown = limits.map((limit) => `- ${limit}`).join('\n');
  return `${body}\n\n## What these numbers cannot tell\n\n${shown}\n`;
}

/** The measured part of `docs/results/stacks.md`. */
export function formatStacksPart(file: StacksFile): MeasuredPart {
  const absent = listAbsences(file);
  const sections = [
    [
      file.sentence,
      ...file.warnings.map((warning) => `Warning: ${warning}.`),
      `${describeNullTest(file)}.`,
    ].join('\n\n'),
    `## Time an exchange\n\n${formatMarkdown(buildTimeTable(file))}\n\n${TIME}\n\n${formatPairLines(file, 'latency', FIGURE_NAMES.latency_us)}`.trimEnd(),
    `## Bytes an exchange\n\n${formatMarkdown(buildBytesTable(file))}\n\n${BYTES}`,
    `## CPU time and throughput\n\n${formatMarkdown(buildCpuTable(file))}\n\n${CPU}\n\n${formatPairLines(file, 'cpu', FIGURE_NAMES.cpu_us)}`.trimEnd(),
    formatAttributionSection(file),
    formatTokensSection(file),
    ...(absent.length === 0 ? [] : [`## Not measured\n\n${absent.map((line) => `- ${line}`).join('\n')}`]),
  ];
  return {
    facts: describeMeasurement(file),
    body: sections.filter((section) => section !== '').join('\n\n'),
    limits: listLimits(file),
  };
}

const TIME =
  'Exchanges begin at fixed times, whether those before are over or not, and each is measured from when it should have begun. A percentile ' +
  'that the sample cannot hold is left out. `detects` is the smallest ratio, or its inverse, that so many invocations call in four of five ' +
  'measurements.';

const BYTES =
  'Means over one pass through the exchanges that have an answer, on a session that is in use, both directions; `~` where they were not the ' +
  'same in each pass. `one way`: what an exchange without an answer takes besides its payload, with the acknowledgement of the protocol. ' +
  '`envelope` is what messages have besides the payload as compact JSON, and below 0 where a protocol writes it shorter. The lines add up to ' +
  'the counters of the sockets or pipes, at both ends. `paid back`: exchanges after which a set-up of more bytes, or of more time, than ' +
  "the baseline's has paid for itself.";

const CPU =
  'CPU time, user and system, of the whole process of each side, when one exchange begins as the one before ends. `/s at 16`: exchanges a ' +
  'second when sixteen are under way at once. `knee`: the highest load at which the median is less than ten times that of the lowest. `kept`: ' +
  'bytes that the server keeps of each exchange while one task grows.';

/** The table alone says more pairs than these. */
const MAX_PAIR_LINES = 5;

function formatPairLines({ arms, baseline }: StacksFile, figure: 'latency' | 'cpu', what: string): string {
  const lines = arms.flatMap(({ name, vs_baseline: vs }) => {
    const verdict = vs?.[figure];
    return verdict === null || verdict === undefined
      ? []
      : [`- ${formatPair(baseline, name, verdict, what)}`];
  });
  return lines.length <= MAX_PAIR_LINES ? lines.join('\n') : '';
}

function formatAttributionSection(file: StacksFile): string {
  const tables = buildAttributionTables(file);
  if (tables.length === 0) return '';
  const about =
    'Of stacks that differ in several factors from the baseline: how many times as much the change of one factor makes it, with its 95 % ' +
    'interval. The shares of a row multiply to the whole. Each is what its change adds to those before it, averaged over the orders of changes of ' +
    'which every step was measured. `=`: shown to be within the margin; `?`: not shown to be anything. Factors that were never changed one ' +
    'without the other have one share; the stack that has the one without the other would tell them apart.';
  return `## What makes the difference\n\n${about}\n\n${tables.map(formatMarkdown).join('\n\n')}`;
}

function formatTokensSection(file: StacksFile): string {
  return `## Tokens that a model reads\n\n${describeTokens(file)}\n\n${buildTokenTables(file).map(formatMarkdown).join('\n\n')}`;
}

function listLimits({ environment, arms, invocations }: StacksFile): string[] {
  return [
    'Loopback is not a network. It has no distance, no loss and no narrow line: where a byte or a round trip costs time, sizes and set-up weigh more than here.',
    `Client and server shared ${environment.cpus} cores with each other and with the command.`,
    'Times and CPU are those of these implementations, in JavaScript on this version of Node: of what implements a protocol, not of the protocol. An SDK and the bare implementation of the same protocol stand side by side for that reason.',
    'CPU time includes what asks and what answers, which is the same for all stacks; the ratio of two stacks would be larger without it.',
    'Exchanges without an answer are in the bytes and in none of the times: some protocols acknowledge them, others say nothing, and to have written is not to have arrived.',
    'The time of a set-up is that of a process that sets up its first session: its code is cold. Clients that connect when they are first used have that time in their first exchange; the bytes of it are in the set-up.',
    ...(invocations < 5
      ? [`With ${invocations} invocations of each, no difference in time can be called one.`]
      : []),
    ...(arms.some(({ bytes }) => !bytes.is_repeatable)
      ? [
          'Bytes marked `~` depend on when things happen: polls, keep-alives, flow control. They are one measurement.',
        ]
      : []),
  ];
}
