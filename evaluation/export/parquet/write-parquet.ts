import path from 'node:path';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { Recording } from '@gaia-mesh/core/recording/recording.ts';
import type { RunMetrics } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import { checkWritable, writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer';
import type { Attempt } from '../../attempts/attempt.ts';
import { toAttemptId } from '../../questions/question.ts';
import { type ExportedRun, readExportedRun } from '../exported-run.ts';

/**
 * Writes a run's tables as Parquet files to the folder `out`.
 *
 * @returns a sentence about the files, for people
 */
export async function writeParquet(file: string, out: string): Promise<string> {
  const folder = resolveUserPath(out);
  const tables = buildRunTables(await readExportedRun(file));
  checkWritable(folder);
  for (const table of tables) writeWhole(path.join(folder, `${table.name}.parquet`), encodeTable(table));
  const names = tables.map(({ name, rows }) => `${name}.parquet (${rows})`).join(', ');
  return `written to ${folder}: ${names}`;
}

function encodeTable({ columns }: Table): Uint8Array {
  return new Uint8Array(
    parquetWriteBuffer({ columnData: columns, createdBy: `gaia-mesh version ${packageVersion}` }),
  );
}

/**
 * Builds the tables of a run. Columns have the names of `metrics.json`, `results.jsonl` and the recording, so that their
 * documentation applies here, too; `from` and `to`, which are words of SQL, become `sender` and `recipient`.
 */
function buildRunTables(exported: ExportedRun): Table[] {
  return [
    buildPacketTable(exported.recording),
    buildAnswerTable(exported),
    buildTokenTable(exported),
    buildExchangeTable(exported),
  ];
}

function buildPacketTable({ header, packets: recorded }: Recording): Table {
  const rows = recorded.map((one, index) => ({ ...one, index }));
  return createTable('packets', rows, [
    ['run_id', 'text', () => header.run_id],
    ['team', 'text', () => header.team],
    ['adapter', 'text', () => header.adapter],
    ['number', 'integer', ({ index }) => index],
    ['task_id', 'text', ({ packet }) => packet.task_id],
    ['id', 'text', ({ packet }) => packet.id],
    ['type', 'text', ({ packet }) => packet.type],
    ['sender', 'text', ({ packet }) => packet.from],
    ['recipient', 'text', ({ packet }) => packet.to],
    ['reply_to', 'text', ({ packet }) => packet.reply_to],
    ['tag', 'text', ({ packet }) => packet.tag],
    ['cause', 'text', ({ cause }) => cause],
    ['is_cause_inferred', 'flag', ({ inferred }) => inferred === true],
    ['token_used', 'integer', ({ packet }) => packet.token_used],
    ['bytes', 'integer', ({ relayed }) => relayed?.bytes],
    ['payload_bytes', 'integer', ({ packet }) => Buffer.byteLength(JSON.stringify(packet.payload))],
    ['arrived_us', 'number', ({ relayed }) => relayed?.arrived_us],
    ['forwarded_us', 'number', ({ relayed }) => relayed?.forwarded_us],
    ['received_us', 'number', ({ work }) => work?.received_us],
    ['sent_us', 'number', ({ work }) => work?.sent_us],
    ['decode_us', 'number', ({ work }) => work?.decode_us],
    ['tool_us', 'number', ({ tool_us }) => tool_us],
    ['engine_us', 'number', ({ work }) => work?.engine_us],
    ['encode_us', 'number', ({ work }) => work?.encode_us],
    ['ts', 'time', ({ packet }) => new Date(packet.ts)],
    ['payload', 'json', ({ packet }) => packet.payload],
  ]);
}

/** The fields of an answers row, from a batch or a run of one task. */
type Answer = Pick<
  Attempt,
  | 'task_id'
  | 'status'
  | 'answer'
  | 'truth'
  | 'exact_match'
  | 'rouge_l'
  | 'quality_score'
  | 'normalized_em'
  | 'f1'
  | 'token_sum'
  | 'bytes_tx'
  | 'bytes_rx'
  | 'pkt_cnt'
  | 'elapsed_ms'
> & { readonly reason?: string | undefined };

/** Builds one row per task: from a batch's results, or from the metrics of a run of one task. */
function buildAnswerTable({ recording, run }: ExportedRun): Table {
  const { run_id, team, adapter, engine } = recording.header;
  const results = run?.results ?? [];
  const single = run?.metrics.tasks === 1 ? run.metrics : undefined;
  const rows: readonly Answer[] =
    results.length > 0 || single === undefined
      ? results.map((one) => ({ ...one, task_id: toAttemptId(one.task_id, one.cycle) }))
      : [
          {
            task_id: recording.packets[0]?.packet.task_id ?? '',
            truth: null,
            ...single,
          },
        ];
  return createTable('answers', rows, [
    ['run_id', 'text', () => run_id],
    ['team', 'text', () => team],
    ['adapter', 'text', () => adapter],
    ['engine', 'text', () => engine],
    ['task_id', 'text', ({ task_id }) => task_id],
    ['status', 'text', ({ status }) => status],
    ['answer', 'text', ({ answer }) => answer],
    ['truth', 'text', ({ truth }) => truth],
    ['exact_match', 'number', ({ exact_match }) => exact_match],
    ['rouge_l', 'number', ({ rouge_l }) => rouge_l],
    ['quality_score', 'number', ({ quality_score }) => quality_score],
    ['normalized_em', 'number', ({ normalized_em }) => normalized_em],
    ['f1', 'number', ({ f1 }) => f1],
    ['token_sum', 'integer', ({ token_sum }) => token_sum],
    ['bytes_tx', 'integer', ({ bytes_tx }) => bytes_tx],
    ['bytes_rx', 'integer', ({ bytes_rx }) => bytes_rx],
    ['pkt_cnt', 'integer', ({ pkt_cnt }) => pkt_cnt],
    ['elapsed_ms', 'number', ({ elapsed_ms }) => elapsed_ms],
    ['reason', 'text', ({ reason }) => reason],
  ]);
}

/** Builds the table of the token ledger: each token of prompts and replies on one line. */
function buildTokenTable({ recording, run }: ExportedRun): Table {
  const {
    prompt,
    completion,
  }: Pick<NonNullable<RunMetrics['token_ledger']>, 'prompt' | 'completion'> = run?.metrics.token_ledger ?? {
    prompt: [],
    completion: [],
  };
  const rows = [
    ...prompt.map((line) => ({ direction: 'prompt', ...line })),
    ...completion.map((line) => ({ direction: 'completion', read: null, ...line })),
  ];
  return createTable('tokens', rows, [
    ['run_id', 'text', () => recording.header.run_id],
    ['direction', 'text', ({ direction }) => direction],
    ['role', 'text', ({ role }) => role],
    ['packet_type', 'text', ({ packet_type }) => packet_type],
    ['model', 'text', ({ model }) => model],
    ['kind', 'text', ({ kind }) => kind],
    ['read', 'integer', ({ read }) => read],
    ['tokens', 'integer', (line) => line.tokens],
  ]);
}

function buildExchangeTable({ recording, exchanges: rows }: ExportedRun): Table {
  return createTable('exchanges', rows, [
    ['run_id', 'text', () => recording.header.run_id],
    ['task_id', 'text', ({ taskId }) => taskId],
    ['agent', 'text', ({ agent }) => agent],
    ['role', 'text', ({ role }) => role],
    ['packet_type', 'text', ({ packetType }) => packetType],
    ['model', 'text', ({ exchange }) => exchange.model],
    ['prompt_tokens', 'integer', ({ exchange }) => exchange.promptTokens],
    ['completion_tokens', 'integer', ({ exchange }) => exchange.completionTokens],
    ['started_us', 'number', ({ exchange }) => exchange.startedUs],
    ['ended_us', 'number', ({ exchange }) => exchange.endedUs],
    ['finish', 'text', ({ exchange }) => exchange.reply.finish],
  ]);
}

/** Value of a cell; null for empty cells of any kind. */
type Cell = string | number | boolean | Date | JsonObject | null | undefined;
type Kind = 'text' | 'json' | 'integer' | 'number' | 'flag' | 'time';

/** A column: name, kind, and the function that reads its cell from a row. */
type Column<Row> = readonly [name: string, kind: Kind, cellOf: (row: Row) => Cell];

/** The columns of one file. */
interface Table {
  readonly name: string;
  readonly rows: number;
  readonly columns: ColumnSource[];
}

const TYPES = {
  text: 'STRING',
  json: 'JSON',
  integer: 'INT64',
  number: 'DOUBLE',
  flag: 'BOOLEAN',
  time: 'TIMESTAMP',
} as const satisfies Record<Kind, string>;

function createTable<Row>(name: string, rows: readonly Row[], columns: readonly Column<Row>[]): Table {
  return {
    name,
    rows: rows.length,
    columns: columns.map(([column, kind, cellOf]) => ({
      name: column,
      type: TYPES[kind],
      nullable: true,
      data: rows.map((row) => toParquetCell(kind, cellOf(row))),
    })),
  };
}

function toParquetCell(kind: Kind, value: Cell): Exclude<Cell, undefined> | bigint {
  if (value === undefined || value === null) return null;
  return kind === 'integer' ? BigInt(Math.round(Number(value))) : value;
}
