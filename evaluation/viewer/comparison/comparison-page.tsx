import { useState } from 'preact/hooks';
import { buildAdapterTables } from '../../compare/adapters/adapter-columns.ts';
import {
  bytesRatio,
  createNameColumn,
  createVerdictColumns,
  type Section,
} from '../../compare/arm-columns.ts';
import type { ComparedArm, Metric, TrafficComparison, Verdict } from '../../compare/comparison-file.ts';
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
import { count } from '../../terminal/table.ts';
import { Bar, createForestColumn, Legend } from '../chart.tsx';
import { toSentence } from '../format.ts';
import { Card, Choice, Notes, Prose, Title } from '../parts.tsx';
import { type Column, createFigure, ResultTable, readTone } from '../result-table.tsx';
import { BYTE_PARTS } from '../run/run-page.tsx';
import { TimesCards } from './times.tsx';

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
          ...listAbsences(file).map(toSentence),
        ]}
      />
      <div class="grid">
        <VerdictsCard file={file} />
        <ArmBytesCard file={file} />
        <TimesCards file={file} />
        <FiguresCard sections={sections} />
        <LimitsCard file={file} limits={limits} />
      </div>
    </>
  );
}

const METRICS: readonly Metric[] = ['time', 'cpu', 'saturated', 'first'];

/** A table with a forest plot of every arm against the baseline. The band is the interval of the baseline against itself. */
function VerdictsCard({ file }: { readonly file: TrafficComparison }) {
  const metrics = METRICS.filter((metric) => file.arms.some(({ vs_baseline: vs }) => vs?.[metric] != null));
  const [chosen, setChosen] = useState(0);
  const metric = metrics[chosen] ?? 'time';
  const rows = listVerdictRows(file);
  const judged = createVerdictColumns(metric);
  const [ratio, ...others] = judged.slice(0, -1);
  const columns = [
    createNameColumn(file.kind === 'adapters' ? 'adapter' : 'stack'),
    // The verdict stands beside the name, where a phone shows it without scrolling.
    ...judged.slice(-1),
    { ...bytesRatio, header: 'bytes ×', rank: 1 },
    ...(ratio === undefined ? [] : [ratio]),
    createVerdictForest(rows, metric, file.margin),
    ...others,
  ];
  const open = describeOpen(file);
  return (
    <Card
      title="Verdicts"
      nav="Verdicts"
      id="verdicts"
      about={`${open === null ? (file.sentence ?? '') : ''} ${describeBand(file, metric)}`}
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
      <ResultTable label={`Verdicts on ${METRIC_NAMES[metric]}`} rows={rows} columns={columns} />
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

function describeBand(file: TrafficComparison, metric: Metric): string {
  const margin = formatMargin(file).replace(' ', '\u00a0');
  return findNullBand(file.null_test[metric]) === null
    ? `The grey band is ${margin}, within which arms count as equal. There are too few samples to say how much the baseline differs from itself.`
    : `The grey band is the baseline measured against itself: a ratio within it may be chance. Within ${margin} arms count as equal.`;
}

/** Returns the interval of the baseline against itself; null without one. */
function findNullBand(itself: Verdict | null): readonly [low: number, high: number] | null {
  return itself === null || itself.high === null || itself.low === 0 ? null : [itself.low, itself.high];
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

function createVerdictForest(
  rows: readonly ComparedArm[],
  metric: Metric,
  margin: number,
): Column<ComparedArm> {
  const find = ({ vs_baseline: vs }: ComparedArm) => vs?.[metric] ?? null;
  const itself = rows[1] === undefined ? null : find(rows[1]);
  const band = findNullBand(itself) ?? [1 / (1 + margin), 1 + margin];
  const known = rows.flatMap((row) => {
    const verdict = find(row);
    if (verdict === null) return [];
    return [verdict.ratio, ...(verdict.low > 0 ? [verdict.low] : []), verdict.high ?? verdict.ratio];
  });
  const [low, high] = [Math.min(...known, ...band, 1) * 0.94, Math.max(...known, ...band, 1) * 1.06];
  const format = (ratio: number) => `${ratio}×`;
  const scale = { low, high, isLog: true, zero: 1, band, ticks: listRatioTicks(low, high), format };
  return createForestColumn(
    `${METRIC_NAMES[metric]} and 95 % interval`,
    scale,
    (row) => {
      const verdict = find(row);
      if (verdict === null)
        return row.vs_baseline === null ? { at: 1, low: 1, high: 1, tone: 'plain' } : null;
      const { ratio: at, high: end } = verdict;
      const tone = readTone(formatVerdict(verdict, metric));
      // Without an interval, only the ratio is drawn.
      return end === null
        ? { at, low: at, high: at, tone }
        : { at, low: Math.max(verdict.low, low), high: end, tone };
    },
    'Dot: as a multiple of the baseline’s; line: 95 % interval. Dotted: no difference.',
  );
}

/** Lists round ratios around 1 with enough distance between them to be readable. */
function listRatioTicks(low: number, high: number): number[] {
  const wide = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000];
  const near = [0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 2.5];
  const least = Math.log(high / low) / 7;
  const ticks: number[] = [];
  for (const tick of (high / low < 4 ? near : wide).filter((value) => value >= low && value <= high))
    if (tick === 1 || Math.abs(Math.log(tick)) > least)
      if (ticks.every((other) => Math.abs(Math.log(tick / other)) > least)) ticks.push(tick);
  return ticks;
}

interface Row {
  readonly arm: ComparedArm;
  readonly parts: readonly { readonly name: string; readonly hue: string; readonly value: number }[];
}

/** Lines of an exchange's bytes, in the order in which the bar stacks them. */
const LINES = [
  { key: 'payload', name: 'payload', hue: '--s1' },
  { key: 'envelope', name: 'envelope', hue: '--s2' },
  { key: 'head', name: 'heads of HTTP and frames', hue: '--s3' },
  { key: 'tls', name: 'TLS', hue: '--s4' },
] as const;

function listRows(file: TrafficComparison): Row[] {
  if (file.kind === 'adapters')
    return file.arms.map((arm) => ({
      arm,
      parts: BYTE_PARTS.map(({ key, name, hue }) => ({ name, hue, value: arm.ledger.total[key] })),
    }));
  return file.arms.map((arm) => {
    const { sent, received, exchanges } = arm.bytes;
    return {
      arm,
      parts: LINES.map(({ key, name, hue }) => ({
        name,
        hue,
        value: (sent[key] + received[key]) / exchanges,
      })),
    };
  });
}

/** Bytes by purpose, as bars around zero: savings of a coding stand on the left, costs such as an envelope on the right. */
function ArmBytesCard({ file }: { readonly file: TrafficComparison }) {
  const [chosen, setChosen] = useState(0);
  const isWhole = chosen === 1;
  const each = file.kind === 'adapters' ? '' : ' of an exchange';
  const all = listRows(file);
  const payload = all[0]?.parts.find(({ name }) => name === 'payload')?.value ?? 0;
  const rows = all.map(({ arm, parts }) => ({
    arm,
    parts: parts.filter(({ name, value }) => value !== 0 && (isWhole || name !== 'payload')),
  }));
  const reach = ({ parts }: Row, way: 1 | -1) =>
    parts.reduce((sum, { value }) => sum + Math.max(0, way * value), 0);
  const low = -Math.max(0, ...rows.map((row) => reach(row, -1)));
  const high = Math.max(1, ...rows.map((row) => reach(row, 1)));
  const keys = [...new Map(rows.flatMap(({ parts }) => parts).map((part) => [part.name, part])).values()].map(
    ({ name, hue }) => ({ name, hue }),
  );
  const title = `What the bytes${each} are for`;
  const columns: Column<Row>[] = [
    { header: 'arm', value: ({ arm }) => formatName(arm.name) },
    createFigure(
      isWhole ? 'bytes' : 'beyond the payload',
      ({ parts }) => parts.reduce((sum, { value }) => sum + value, 0),
      isWhole ? count : formatSigned,
      'exact bytes, counted where they are written',
    ),
    {
      header: 'by what they are for',
      value: () => '',
      cell: ({ parts }) => <Bar parts={parts} low={low} high={high} />,
    },
  ];
  return (
    <Card
      title={title}
      id="bytes"
      nav="Bytes"
      about={`Bytes are exact. ${count(payload)} B of payload are the same for all; a bar left of the line is saved, one right of it is spent.`}
      tools={
        <Choice
          label="Bytes"
          names={['beyond the payload', 'all bytes']}
          chosen={chosen}
          onChoice={setChosen}
        />
      }
    >
      <ResultTable label={title} rows={rows} columns={columns} />
      <Legend parts={keys} />
    </Card>
  );
}

/** Formats a change: `+12`, `−4`. */
function formatSigned(value: number): string {
  return `${value > 0 ? '+' : value < 0 ? '−' : ''}${count(Math.abs(value))}`;
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
                  columns={columns}
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
