import type { MeasuredPart } from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { formatMarkdownTable } from '@gaia-mesh/evaluation/terminal/markdown-table.ts';
import { formatPercent } from '@gaia-mesh/evaluation/terminal/table.ts';
import { estimateText, formatRatio } from '../measure/rounds.ts';
import type { CodecTimes } from './codecs.ts';
import type { BatchTimes, RightAnswers, StartTimes } from './runs.ts';

interface ResultsTables {
  /** Times and memory. */
  readonly speed: string;
  /** Times of adapters relative to the libraries that they call. */
  readonly codecs: string;
  /** Shares of right answers. */
  readonly answers: string;
}

export function buildResultsTables(
  start: StartTimes,
  batch: BatchTimes,
  codecs: readonly CodecTimes[],
  answers: RightAnswers,
): ResultsTables {
  const { early, late } = batch.memory;
  const growth = (from: number, to: number) => `${from.toFixed(0)} → ${to.toFixed(0)} MB`;
  const speed = [
    ['`npm run bench`, from start to prompt', estimateText(start.wallMs, 'ms'), 'at most 1,500 ms'],
    ['of it in the mesh (all but tools)', estimateText(start.meshMs, 'ms'), 'below 20 ms'],
    [`${batch.tasks} tasks on live agents`, estimateText(batch.tasksPerS, 'tasks/s'), 'at least 100 tasks/s'],
    ['time of one of them, median', estimateText(batch.p50Ms, 'ms'), ''],
    ['time of one of them, 95th percentile', estimateText(batch.p95Ms, 'ms'), ''],
    ['memory of hub and launcher, a quarter in → end', growth(early.hubMb, late.hubMb), 'flat'],
    ['memory of the largest agent, a quarter in → end', growth(early.agentMb, late.agentMb), 'flat'],
  ];
  const right = Object.entries(answers).map(([name, part]) => [
    name,
    String(part.tasks),
    `${formatPercent(part.normalized_em)} (${formatPercent(part.low)}–${formatPercent(part.high)})`,
    formatPercent(part.f1),
  ]);
  return {
    speed: formatMarkdownTable([['what', 'measured', 'wanted'], ...speed]),
    codecs: formatMarkdownTable([
      ['adapter', 'encode, times its library', 'decode, times its library'],
      ...codecs.map(({ adapter, encode, decode }) => [adapter, formatRatio(encode), formatRatio(decode)]),
    ]),
    answers: formatMarkdownTable([['questions', 'tasks', 'exact match (95 % interval)', 'F1'], ...right]),
  };
}

/**
 * Builds the measured part of `docs/results/runs.md`. `questions` is the name of the question file, unless they are the
 * shipped ones.
 */
export function buildResultsPart(
  { speed, codecs, answers }: ResultsTables,
  questions: string | undefined,
): MeasuredPart {
  const source = questions === undefined ? 'about the four shipped documents' : `of \`${questions}\``;
  return {
    facts: 'four agents, embedded engine, adapter json',
    limits: [
      'Loopback is not a network, and a machine that others use at the same time is slower.',
      'The embedded engine reads; it does not reason. Where several documents must be put together, or the answer is free text, it is often wrong.',
    ],
    body: `## Time and memory

Medians, with the 95 % interval of the median in brackets. The batch is of questions ${source}, four at a time.

${speed}

## Adapters against their libraries

All packets of the default run, coded by the adapter and by a bare call of the library under it, in pairs of random order.

${codecs}

## How often the embedded engine is right

On the questions ${source}, by part. Exact match and F1 after SQuAD normalisation, the best over all accepted answers; Wilson intervals.

${answers}`,
  };
}
