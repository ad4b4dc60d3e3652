import {
  type Column,
  explainColumns,
  formatColumns,
  formatColumnsCsv,
  formatColumnsMarkdown,
  toTableView,
} from '../terminal/columns.ts';
import type { MeasuredPart } from '../terminal/docs-page.ts';
import { escapeMarkdown } from '../terminal/markdown-table.ts';
import { createStyles } from '../terminal/print.ts';
import { wrapText } from '../terminal/table.ts';
import type { TableView } from '../terminal/table-view.ts';
import {
  byteColumns as adapterByteColumns,
  hasMatrix,
  listAdapterColumns,
  listAdapterLimits,
  listGroupColumns,
  listMatrixColumns,
  listMatrixRows,
} from './adapters/adapter-columns.ts';
import type { AdaptersComparison, ComparisonFile, StacksComparison } from './comparison-file.ts';
import { describeNullTest, describePlayed, listAbsences, listFindings } from './comparison-text.ts';
import { formatAttribution, listCauseColumns } from './stacks/figures/stack-attribution.ts';
import {
  definitionColumns,
  listCpuColumns,
  listPlainColumns,
  listStackLimits,
  resultColumns,
  shapeColumns,
  byteColumns as stackByteColumns,
  timeColumns,
} from './stacks/figures/stack-columns.ts';
import { formatMargin } from './verdict-text.ts';

/** A table of a comparison, for any output. */
interface ComparisonTable {
  readonly view: TableView;
  readonly terminal: string;
  readonly markdown: string;
}

/** Tables that belong together, with a heading and an explanation. */
interface Section {
  readonly heading: string;
  readonly tables: readonly ComparisonTable[];
  readonly note: string;
  /** The place on a terminal: above the findings, below them, or on pages only. */
  readonly at: 'top' | 'bottom' | 'page';
}

function createTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): ComparisonTable {
  return {
    view: toTableView(columns, rows),
    terminal: formatColumns(columns, rows),
    markdown: formatColumnsMarkdown(columns, rows),
  };
}

/** Lists the tables of a comparison. */
function listSections(file: ComparisonFile): Section[] {
  const sections = file.kind === 'adapters' ? listAdapterSections(file) : listStackSections(file);
  return sections.filter(({ tables }) => tables.length > 0);
}

function listAdapterSections(file: AdaptersComparison): Section[] {
  const { arms } = file;
  const columns = listAdapterColumns(file);
  const groups = (['by_part', 'by_size'] as const)
    .map((key) => listGroupColumns(file, key))
    .filter(({ length }) => length > 0);
  return [
    {
      heading: 'Adapters',
      tables: [createTable(columns, arms)],
      note:
        'All adapters carry the same packets, which were recorded once. Each invocation of each adapter is a set of fresh processes; adapters take ' +
        `turns within a round, in random order. ${explainColumns(columns)}`,
      at: 'top',
    },
    {
      heading: 'Bytes by kind and by size of payload',
      tables: groups.map((own) => createTable(own, arms)),
      note: 'As a multiple of the baseline, with the number of packets.',
      at: 'bottom',
    },
    {
      heading: 'Where the bytes are',
      tables: [createTable(adapterByteColumns, arms)],
      note:
        '`payload` is the application data as JSON; `envelope` is the message around it; `payload coding` is the bytes that this encoding of the ' +
        'payload adds or saves; `layers` is the effect of signatures, encryption, checksums and compression; `framing` is the length before each ' +
        'packet. They sum to `wire`, and over the run that matches the byte counts of the sockets.',
      at: 'page',
    },
    {
      heading: 'How the cost grows',
      tables: hasMatrix(file) ? [createTable(listMatrixColumns(file), listMatrixRows(file))] : [],
      note: '',
      at: 'bottom',
    },
  ];
}

function listStackSections(file: StacksComparison): Section[] {
  const { arms, tokens, attributions } = file;
  const byFigure = Map.groupBy(attributions, ({ figure }) => figure).values();
  return [
    {
      heading: 'Time an exchange',
      tables: [createTable(timeColumns, arms)],
      note:
        'Exchanges begin at fixed times, whether or not earlier ones have ended, and each is measured from its due time. Percentiles for which ' +
        'the sample is too small are left out. `detects` is the smallest ratio, or its inverse, that this many invocations detect in four of five ' +
        'measurements.',
      at: 'top',
    },
    {
      heading: 'Bytes an exchange',
      tables: [createTable(stackByteColumns, arms)],
      note:
        'Means over one pass through the exchanges with an answer, on a session in use, in both directions; `~` if passes differed. `one way`: bytes ' +
        'of an exchange without an answer beyond its payload, including the acknowledgement of the protocol. `envelope`: bytes of the messages ' +
        'beyond the payload as compact JSON; negative if a protocol encodes the payload in fewer bytes. The lines add up to the counters of the ' +
        'sockets or pipes at both ends. `paid back`: exchanges after which a set-up that takes more bytes, or more time, than the ' +
        "baseline's has paid for itself.",
      at: 'top',
    },
    {
      heading: 'CPU time and throughput',
      tables: [createTable(listCpuColumns(file), arms)],
      note:
        'CPU time, user and system, of the whole process of each side, with one exchange at a time. `/s at 16`: exchanges a second with sixteen ' +
        'at once. `knee`: the highest load at which the median is less than ten times that of the lowest. `kept`: bytes that the server retains ' +
        'of each exchange while one task grows.',
      at: 'top',
    },
    {
      heading: 'What makes the difference',
      tables: [...byFigure].map((own) => createTable(listCauseColumns(own), own)),
      note:
        'For stacks that differ from the baseline in several factors: the ratio that the change of each factor causes, with its 95 % interval. ' +
        'The shares of a row multiply to the whole. Each is what its change adds to those before it, averaged over the orders of changes whose ' +
        'every step was measured. `=`: shown to be within the margin; `?`: undecided. Factors that only changed together have one share; a stack ' +
        'with one of the changes alone would separate them.',
      at: 'page',
    },
    {
      heading: 'Tokens that a model reads',
      tables: [
        createTable(definitionColumns, tokens.definitions),
        createTable(resultColumns, tokens.results),
        createTable(shapeColumns, tokens.shapes),
      ],
      note: describeTokens(file),
      at: 'page',
    },
  ];
}

export function describeTokens({ tokens }: StacksComparison): string {
  return (
    `Tokens of ${tokens.encoding}, counted for what a model reads: definitions at each of its turns, results once. No model reads the protocol ` +
    'around them, so envelopes have no tokens. × is a multiple of compact JSON.'
  );
}

/** Returns the table that a summary shows. */
export function buildSummaryTable(file: ComparisonFile): TableView {
  const [first] = listSections(file).flatMap(({ tables }) => tables);
  if (first === undefined) throw new Error('a comparison has a table');
  return first.view;
}

const LEGENDS = {
  adapters: 'bytes: all packets, each once; ms: all tasks in steady state, without tools',
  stacks:
    'time: from the due time of each exchange; B: bytes of an exchange, both directions (~: varies); CPU ×: one exchange at a time, = equal, ? cannot ' +
    'tell; /s at 16: throughput with sixteen at once',
} as const;

/** Maximum attributions on the terminal; the page shows more. */
const MAX_ATTRIBUTIONS = 6;

/** Formats the comparison for a terminal. */
export function formatComparison(file: ComparisonFile): string {
  const { bold, dim, yellow } = createStyles(process.stdout);
  const sections = listSections(file);
  const listTables = (at: Section['at']) =>
    sections
      .filter((own) => own.at === at)
      .flatMap(({ tables }) => tables.flatMap((own) => ['', own.terminal]));
  const [sentence, ...findings] = listFindings(file);
  const attributions = file.kind === 'stacks' ? file.attributions : [];
  const shown = listTables('top');
  const detects = shown.some((table) => table.includes('detects'))
    ? '; detects: the smallest ratio that this many processes would show in four of five measurements'
    : '';
  return [
    ...shown,
    '',
    ...(sentence === undefined ? [] : [bold(wrapText(sentence))]),
    ...findings.map(wrapText),
    ...(attributions.length > MAX_ATTRIBUTIONS
      ? []
      : attributions.map((one) => wrapText(`${formatAttribution(one)}.`))),
    ...file.warnings.map((warning) => yellow(wrapText(`Warning: ${warning}.`))),
    ...listAbsences(file).map(wrapText),
    dim(wrapText(`${describePlayed(file)}. ${describeNullTest(file)}.`)),
    dim(wrapText(`${LEGENDS[file.kind]}; equal: within ${formatMargin(file)}${detects}`)),
    ...listTables('bottom'),
    '',
  ].join('\n');
}

/** Formats the comparison as a Markdown file. */
export function formatComparisonMarkdown(file: ComparisonFile): string {
  const { body, limits } = buildComparisonPart(file);
  const shown = limits.map((limit) => `- ${escapeMarkdown(limit)}`).join('\n');
  return `${body}\n\n## What these numbers cannot tell\n\n${shown}\n`;
}

/** Builds the measured part of `docs/results/comparison.md` and `stacks.md`. */
export function buildComparisonPart(file: ComparisonFile): MeasuredPart {
  const absent = listAbsences(file);
  const played = describePlayed(file);
  const sections = listSections(file).map(({ heading, tables, note }) =>
    [`## ${heading}`, ...tables.map(({ markdown }) => markdown), escapeMarkdown(note)]
      .filter((part) => part !== '')
      .join('\n\n'),
  );
  const said = [
    ...listFindings(file),
    ...file.warnings.map((warning) => `Warning: ${warning}.`),
    `The null test: ${describeNullTest(file)}.`,
  ];
  return {
    facts:
      file.kind === 'adapters'
        ? `team ${file.team}, engine ${file.engine}, ${file.agents} agents; ${played}`
        : played,
    limits: listLimits(file),
    body: [
      ...said.map(escapeMarkdown),
      ...sections,
      ...(absent.length === 0
        ? []
        : [`## Not measured\n\n${absent.map((line) => `- ${escapeMarkdown(line)}`).join('\n')}`]),
    ].join('\n\n'),
  };
}

/** Lists what the numbers cannot tell: each is a conclusion that a reader might draw and should not. */
export function listLimits(file: ComparisonFile): string[] {
  return file.kind === 'adapters' ? listAdapterLimits(file) : listStackLimits(file);
}

/** Formats one line for each arm, with all numbers in full precision. */
export function formatComparisonCsv(file: ComparisonFile): string {
  return file.kind === 'adapters'
    ? formatColumnsCsv(listAdapterColumns(file), file.arms)
    : formatColumnsCsv(
        keepFirst([...timeColumns, ...listPlainColumns(file), ...stackByteColumns, ...listCpuColumns(file)]),
        file.arms,
      );
}

/** Formats one line for each adapter and run; undefined without a matrix. */
export function formatMatrixCsv(file: ComparisonFile): string | undefined {
  if (file.kind !== 'adapters' || !hasMatrix(file)) return undefined;
  return formatColumnsCsv(listMatrixColumns(file), file.matrix);
}

/** Keeps the first column of each key: tables of one file share some. */
function keepFirst<Row>(columns: readonly Column<Row>[]): Column<Row>[] {
  return [...Map.groupBy(columns, ({ key }) => key).values()].flatMap(([first]) =>
    first === undefined ? [] : [first],
  );
}
