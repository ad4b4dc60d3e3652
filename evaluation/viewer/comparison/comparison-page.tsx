import { useState } from 'preact/hooks';
import { buildAdapterTables } from '../../compare/adapters/adapter-columns.ts';
import {
  bytesRatio,
  createNameColumn,
  createVerdictColumns,
  type Section,
} from '../../compare/arm-columns.ts';
import type { ComparedArm, Metric, TrafficComparison } from '../../compare/comparison-file.ts';
import {
  describeNullTest,
  describeOpen,
  describePlayed,
  describeTaskShare,
  formatHeadline,
  formatMargin,
  formatName,
  formatVerdict,
  listAbsences,
  METRIC_NAMES,
} from '../../compare/comparison-text.ts';
import { buildStackTables } from '../../compare/stacks/figures/stack-columns.ts';
import { Forest, ForestAxis, listRatioTicks } from '../chart.tsx';
import { Card, Choice, Notes, Prose, Title } from '../parts.tsx';
import { type Column, ResultTable, readTone, toPageColumns } from '../result-table.tsx';
import { ArmBytesCard } from './arm-bytes.tsx';
import { LoadCard } from './load-curves.tsx';
import { SamplesCard } from './samples.tsx';

/** Adapters or stacks on the same traffic, drawn from `comparison.json`. */
export function ComparisonPage({ file }: { readonly file: TrafficComparison }) {
  const { sections, limits } = file.kind === 'adapters' ? buildAdapterTables(file) : buildStackTables(file);
  const {
    cpu = 'unknown processor',
    cpus = '?',
    node = 'unknown',
    gaia_mesh: version = '',
  } = file.environment;
  return (
    <>
      <Title
        title={formatHeadline(file)}
        lede={`${describePlayed(file)}.${file.kind === 'adapters' ? ` ${describeTaskShare(file)}` : ''}`}
        command={file.command}
        when={file.measured_at}
        made={[
          `${cpu}, ${cpus} cores, Node ${node}`,
          `packets of run ${file.run_id}`,
          version === '' ? null : `Gaia Mesh ${version}`,
        ]}
      />
      <Notes
        texts={[
          ...file.warnings.map((warning) => `Warning: ${warning}.`),
          ...listAbsences(file).map(beginSentence),
        ]}
      />
      <div class="grid">
        <VerdictsCard file={file} />
        <ArmBytesCard file={file} />
        <SamplesCard file={file} />
        {file.kind === 'stacks' ? <LoadCard file={file} /> : null}
        <FiguresCard sections={sections} />
        <LimitsCard file={file} limits={limits} />
      </div>
    </>
  );
}

function beginSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

const METRICS: readonly Metric[] = ['time', 'cpu', 'saturated', 'first'];

/** A table with a forest plot of every arm against the baseline. The band is the interval of the baseline against itself. */
function VerdictsCard({ file }: { readonly file: TrafficComparison }) {
  const metrics = METRICS.filter((metric) => file.arms.some(({ vs_baseline: vs }) => vs?.[metric] != null));
  const [chosen, setChosen] = useState(0);
  const metric = metrics[chosen] ?? 'time';
  const rows = listVerdictRows(file);
  const judged = createVerdictColumns(metric);
  const columns = toPageColumns(
    [
      createNameColumn(file.kind === 'adapters' ? 'adapter' : 'stack'),
      // The verdict stands beside the name, where a phone shows it without scrolling.
      ...judged.slice(-1),
      { ...bytesRatio, header: 'bytes ×', rank: 1 },
      ...judged.slice(0, -1),
    ],
    rows,
  );
  const open = describeOpen(file);
  return (
    <Card
      title="Verdicts"
      nav="Verdicts"
      id="verdicts"
      about={`${open === null ? (file.sentence ?? '') : ''} The grey band is the baseline measured against itself: a ratio within it may be chance. Within ${formatMargin(file)} arms count as equal.`}
      tools={
        metrics.length < 2 ? undefined : (
          <Choice
            label="Figure shown"
            names={metrics.map((one) => METRIC_NAMES[one])}
            chosen={chosen}
            onChoice={setChosen}
          />
        )
      }
    >
      <ResultTable
        label={`Verdicts on ${METRIC_NAMES[metric]}`}
        rows={rows}
        columns={columns.toSpliced(4, 0, createForestColumn(rows, metric, file.margin))}
      />
      {open === null ? null : (
        <p class="about">
          <Prose text={open} />
        </p>
      )}
      <details>
        <summary>How a verdict is found</summary>
        <p class="about">
          {`Each arm runs in fresh processes of its own. Two arms are equal where two one-sided tests show that, different where the interval does not reach 1× and a test corrected for the number of arms (Holm) agrees, and else it cannot be told. ${describeNullTest(file)}.`}
        </p>
      </details>
    </Card>
  );
}

/** Lists the arms, with the null test as an arm of its own after the baseline. */
function listVerdictRows({ arms, baseline, null_test }: TrafficComparison): ComparedArm[] {
  const same = { ratio: 1, low: 1, high: 1, verdict: 'equal' } as const;
  return arms.flatMap((arm): ComparedArm[] =>
    arm.name === baseline
      ? [arm, { ...arm, name: `${formatName(baseline)} again`, vs_baseline: { ...null_test, bytes: same } }]
      : [arm],
  );
}

function createForestColumn(
  rows: readonly ComparedArm[],
  metric: Metric,
  margin: number,
): Column<ComparedArm> {
  const find = ({ vs_baseline: vs }: ComparedArm) => vs?.[metric] ?? null;
  const itself = rows[1] === undefined ? null : find(rows[1]);
  const band =
    itself === null || itself.high === null || itself.low === 0
      ? ([1 / (1 + margin), 1 + margin] as const)
      : ([itself.low, itself.high] as const);
  const known = rows.flatMap((row) => {
    const verdict = find(row);
    if (verdict === null) return [];
    return [verdict.ratio, ...(verdict.low > 0 ? [verdict.low] : []), verdict.high ?? verdict.ratio];
  });
  const [low, high] = [Math.min(...known, ...band, 1) * 0.94, Math.max(...known, ...band, 1) * 1.06];
  const format = (ratio: number) => `${ratio}×`;
  const scale = { low, high, isLog: true, zero: 1, band, ticks: listRatioTicks(low, high), format };
  return {
    header: `${METRIC_NAMES[metric]} and 95 % interval`,
    axis: <ForestAxis scale={scale} />,
    value: () => '',
    cell: (row) => {
      const verdict = find(row);
      if (verdict === null)
        return row.vs_baseline === null ? (
          <Forest scale={scale} tone="" interval={{ at: 1, low: 1, high: 1 }} />
        ) : null;
      const tone = readTone(formatVerdict(verdict, metric));
      const { ratio: at, high: end } = verdict;
      // Without an interval, only the ratio is drawn.
      const interval =
        end === null ? { at, low: at, high: at } : { at, low: Math.max(verdict.low, low), high: end };
      return <Forest scale={scale} interval={interval} tone={tone} />;
    },
  };
}

/** Shows the tables of the terminal and of the Markdown page, with their notes. */
function FiguresCard({ sections }: { readonly sections: readonly Section[] }) {
  return (
    <Card title="All figures" id="figures" nav="All figures">
      {sections
        .filter(({ tables }) => tables.length > 0)
        .map(({ heading, tables, note }, index) => (
          <details key={heading} open={index === 0}>
            <summary>{heading}</summary>
            {tables.map((table, place) =>
              table((columns, rows) => (
                <ResultTable
                  key={place}
                  label={tables.length === 1 ? heading : `${heading} ${place + 1}`}
                  rows={rows}
                  columns={toPageColumns(columns, rows)}
                />
              )),
            )}
            <p class="about">
              <Prose text={note} />
            </p>
          </details>
        ))}
    </Card>
  );
}

function LimitsCard({
  file,
  limits,
}: {
  readonly file: TrafficComparison;
  readonly limits: readonly string[];
}) {
  return (
    <Card title="What these numbers cannot tell" nav="Limits" id="limits">
      <ul class="list">
        {limits.map((limit) => (
          <li key={limit}>
            <Prose text={limit} />
          </li>
        ))}
      </ul>
      <p class="about">
        To check a figure, measure again with the command above on your machine. All single rounds and
        samples: <SaveFile file={file} name="comparison.json" />
      </p>
    </Card>
  );
}

/** A link that saves the measured file as it was written. */
function SaveFile({ file, name }: { readonly file: object; readonly name: string }) {
  return (
    <a
      href={`#${name}`}
      download={name}
      onClick={({ currentTarget }) => {
        const blob = new Blob([`${JSON.stringify(file, null, 2)}\n`], { type: 'application/json' });
        currentTarget.href = URL.createObjectURL(blob);
        setTimeout(() => URL.revokeObjectURL(currentTarget.href), 60_000);
      }}
    >
      {`save ${name}`}
    </a>
  );
}
