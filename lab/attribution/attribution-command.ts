import type { Command } from 'commander';
import { type Design, designs } from '../../evaluation/compare/stacks/testing/planted.ts';
import { playDesign } from '../../evaluation/compare/stacks/testing/play-design.ts';
import type { MeasuredPart } from '../../evaluation/terminal/docs-page.ts';
import { markdownTable } from '../../evaluation/terminal/markdown-table.ts';
import { complain } from '../../evaluation/terminal/print.ts';
import { table } from '../../evaluation/terminal/table.ts';
import { interruptible } from '../../scripts/command-line/interruptible.ts';
import { positiveInteger } from '../../scripts/command-line/option-values.ts';
import { type PublishOptions, publisher } from '../measure/publish.ts';

interface AttributionOptions extends PublishOptions {
  readonly seeds: number;
  readonly each?: boolean;
  readonly only?: string;
}

/** A design as it was compared, with a defect in it or without. */
interface Tried {
  readonly design: string;
  readonly defect: string | null;
  readonly seed: number;
  /** Whom the comparison is to name: nobody where nothing was planted. */
  readonly planted: string | null;
  readonly blamed: readonly string[];
  readonly texts: readonly string[];
  readonly seconds: number;
  readonly isRight: boolean;
}

/** Of ten: as the attribution has to be, to be believed. */
const NAMED = 0.9;
/** Milliseconds that each pair of processes is measured for. */
const MEASURED_MS = 400;

export function attributionCommand(command: Command): void {
  command
    .option('--seeds <n>', 'comparisons with a defect, and as many without', positiveInteger, 10)
    .option('--each', 'so many of each defect, instead of one defect after the other')
    .option('--only <name>', 'one design: pool, nagle, history or parser')
    .option('--json', 'print the comparisons as one JSON value')
    .option('--write', 'write docs/results/attribution.md')
    .action(run);
}

/** Plants defects in stacks, compares them in fresh processes, and says how often the right factor is named. Exit code 1 below the floor. */
async function run({ seeds, each = false, only, ...options }: AttributionOptions): Promise<void> {
  const publish = publisher('docs/results/attribution.md', options);
  const { signal } = interruptible('the comparisons');
  const tried: Tried[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    for (const isPlanted of [true, false]) {
      const all = designs(isPlanted).filter(({ name }) => only === undefined || name === only);
      const own = each ? all : all.filter((_, index) => index === (seed - 1) % all.length);
      for (const design of own) tried.push(await tryDesign(design, isPlanted, seed, signal));
    }
  }
  const sentences = sentencesOf(tried);
  const text = [table([['', 'planted in', 'named', 's'], ...tried.map(rowOf)]), ...sentences].join('\n');
  await publish({ report: { tried }, text, part: partOf(tried, sentences) });
  const { planted, honest } = split(tried);
  if (rightOf(planted) < NAMED * planted.length || rightOf(honest) < honest.length) process.exitCode = 1;
}

async function tryDesign(
  design: Design,
  isPlanted: boolean,
  seed: number,
  signal: AbortSignal,
): Promise<Tried> {
  const beganMs = performance.now();
  const { blamed, texts } = await playDesign(design, {
    seed,
    measuredMs: MEASURED_MS,
    onNote: complain,
    signal,
  });
  const planted = isPlanted ? design.factor : null;
  const tried: Tried = {
    design: design.name,
    defect: isPlanted ? design.defect : null,
    seed,
    planted,
    blamed,
    texts,
    seconds: Math.round((performance.now() - beganMs) / 1000),
    isRight: blamed.join() === (planted ?? ''),
  };
  complain(rowOf(tried).join('  '));
  return tried;
}

function rowOf({ design, seed, planted, blamed, seconds, isRight }: Tried): string[] {
  const named = blamed.length === 0 ? 'none' : blamed.join(', ');
  return [`${isRight ? '✓' : '✗'} ${design}, seed ${seed}`, planted ?? 'nothing', named, String(seconds)];
}

function sentencesOf(tried: readonly Tried[]): string[] {
  const { planted, honest } = split(tried);
  return [
    `The planted factor was named, and no other, in ${rightOf(planted)} of ${planted.length} comparisons.`,
    `Without a defect nothing was blamed in ${rightOf(honest)} of ${honest.length} comparisons.`,
  ];
}

function split(tried: readonly Tried[]) {
  return {
    planted: tried.filter(({ planted }) => planted !== null),
    honest: tried.filter(({ planted }) => planted === null),
  };
}

function rightOf(tried: readonly Tried[]): number {
  return tried.filter(({ isRight }) => isRight).length;
}

/** The measured part of `docs/results/attribution.md`. */
export function partOf(tried: readonly Tried[], sentences: readonly string[]): MeasuredPart {
  const shown = tried.filter(
    ({ defect, design }, at) => defect !== null && tried.findIndex((one) => one.design === design) === at,
  );
  const seconds = tried.reduce((sum, own) => sum + own.seconds, 0);
  return {
    facts: `${tried.length} comparisons in ${Math.ceil(seconds / 60)} minutes, each of 8 arms in 6 or 8 fresh pairs of processes`,
    limits: [
      'The defects are large, as they are where somebody notices them: the least that a comparison can name is in its intervals.',
      'All levels but the defect do the same work. In real stacks every factor has some share, and then several are named.',
      'A factor that a comparison does not vary cannot be named: a defect in both implementations looks like nobody’s.',
    ],
    body: [
      sentences.join('\n\n'),
      markdownTable([['comparison', 'planted in', 'named', 's'], ...tried.map(rowOf)]),
      ...shown.map(
        ({ design, defect, texts }) =>
          `### ${design}\n\nPlanted: ${defect}. The comparison says:\n\n${texts.map((text) => `- ${text}`).join('\n')}`,
      ),
    ].join('\n\n'),
  };
}
