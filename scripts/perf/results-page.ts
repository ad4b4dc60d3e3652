import os from 'node:os';
import { packageVersion } from '../../config/package-root.ts';
import { MeshError } from '../../core/errors.ts';
import { markdownTable } from '../markdown-table.ts';
import { percent } from '../terminal/table.ts';
import type { Answers } from './answers.ts';
import type { CodecFigures } from './codecs.ts';
import type { Figures } from './measure.ts';
import type { StartFigures } from './start.ts';
import type { TaskFigures } from './tasks.ts';

const README_BEGIN = '<!-- results: npm run perf -- --write -->';
const README_END = '<!-- end of results -->';

/** Times and memory as a Markdown table. */
export function speedTable(start: StartFigures, batch: TaskFigures): string {
  const rows = [
    ['`npm run bench`, from start to prompt', quoted(start.wallMs, 'ms', 0), 'at most 1,500 ms'],
    ['of it in the mesh (all but tools)', quoted(start.meshMs, 'ms', 1), 'below 20 ms'],
    [`${batch.tasks} tasks on live agents`, quoted(batch.tasksPerS, 'tasks/s', 0), 'at least 100 tasks/s'],
    ['time of one of them, median', quoted(batch.p50Ms, 'ms', 1), ''],
    ['time of one of them, 95th percentile', quoted(batch.p95Ms, 'ms', 1), ''],
    ['memory of hub and launcher, a quarter in → end', growth(batch.memory.hubMb), 'flat'],
    ['memory of the largest agent, a quarter in → end', growth(batch.memory.agentMb), 'flat'],
  ];
  return markdownTable([['what', 'measured', 'wanted'], ...rows]);
}

/** What adapters take beyond the libraries that they call, as a Markdown table. */
export function codecsTable(codecs: readonly CodecFigures[]): string {
  const times = ({ ratio, low, high }: CodecFigures['encode']) =>
    `${ratio.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;
  const rows = codecs.map(({ adapter, encode, decode }) => [adapter, times(encode), times(decode)]);
  return markdownTable([['adapter', 'encode, times its library', 'decode, times its library'], ...rows]);
}

/** How often the answers are right, as a Markdown table. */
export function answersTable(answers: Answers): string {
  const rows = Object.entries(answers).map(([name, part]) => [
    name,
    String(part.tasks),
    `${percent(part.normalized_em)} (${percent(part.low)}–${percent(part.high)})`,
    percent(part.f1),
  ]);
  return markdownTable([['questions', 'tasks', 'exact match (95 % interval)', 'F1'], ...rows]);
}

export interface PageFacts {
  readonly speed: string;
  readonly codecs: string;
  readonly answers: string;
  /** Name of the question file, where it was not the shipped questions. */
  readonly questions: string | undefined;
  readonly revision: string;
}

/** `docs/results.md` */
export function resultsPage({ speed, codecs, answers, questions, revision }: PageFacts): string {
  const option = questions === undefined ? '' : ` --questions ${questions}`;
  const batched = `The batch is of ${questions === undefined ? 'the shipped questions, over and over' : `the first questions of \`${questions}\``}, four at a time.`;
  const about =
    questions === undefined
      ? 'On the questions about the four documents that ship with the project.'
      : `On the questions of \`${questions}\`, by part.`;
  return `# Results

Written by \`npm run perf -- --write${option}\`; do not edit.

- ${machine()}
- Gaia Mesh ${packageVersion}, revision ${revision}; four agents, embedded engine, adapter json
- ${new Date().toISOString().slice(0, 10)}; load of the machine at the end ${os.loadavg()[0]?.toFixed(1)}

## Time and memory

Medians, with the 95 % interval of the median in brackets.

${speed}

The default run is measured after one run that is not counted, since the first compiles the code and keeps it. ${batched}

## Adapters against their libraries

All packets of the default run, coded by the adapter and by a bare call of the library under it, in pairs of random order.

${codecs}

Encoding adds nothing. Decoding is more than the library does, on purpose: bytes come from other processes, so the envelope is validated,
and what the libraries let pass (a key that comes twice, \`__proto__\`, private extensions, broken UTF-8, endless nesting) is
refused. That is the wanted 10 % for encoding, and not for decoding.

## How often the embedded engine is right

${about} Exact match and F1 after SQuAD normalisation, the best over all accepted answers; Wilson intervals.

${answers}

## What these numbers cannot tell

Loopback is not a network, and a machine that others use at the same time is slower. The embedded engine reads; it does
not reason: where several documents must be put together, or the answer is free text, it is often wrong.
`;
}

/** The README with `speed` between its two markers. */
export function withResults(readme: string, speed: string): string {
  const [before, rest] = readme.split(README_BEGIN);
  const after = rest?.split(README_END)[1];
  if (before === undefined || after === undefined) {
    throw new MeshError('io', `README.md: expected the markers ${README_BEGIN} and ${README_END}`);
  }
  return `${before}${README_BEGIN}\n${speed}\n\n${machine()}\n${README_END}${after}`;
}

/** The machine in one line. */
export function machine(): string {
  const [cpu] = os.cpus();
  const memory = Math.round(os.totalmem() / 2 ** 30);
  return `${os.cpus().length} cores (${cpu?.model.trim()}), ${memory} GiB, ${os.type()} ${os.release()}, Node ${process.version}`;
}

function quoted({ median, low, high }: Figures, unit: string, digits: number): string {
  const show = (value: number) =>
    value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${show(median)} ${unit} (${show(low)}–${show(high)})`;
}

function growth([early, late]: readonly [number, number]): string {
  return `${early.toFixed(0)} → ${late.toFixed(0)} MB`;
}
