import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { addLine, createLedgerLine, type LedgerLine } from '@gaia-mesh/core/contracts/ledger.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { formatRecording, type RecordedPacket, type Recording } from '@gaia-mesh/core/recording/recording.ts';
import { Timeline } from '@gaia-mesh/core/recording/timeline.ts';
import { writeArchive } from '@gaia-mesh/core/run/archive-run.ts';
import type { RunMetrics } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import { buildRecordedMetrics } from '@gaia-mesh/core/run/metrics/recorded-metrics.ts';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { PREFIX_BYTES } from '@gaia-mesh/core/wire/frame.ts';
import { type ArchivedRun, readArchivedRun } from '../run/archived-run.ts';

interface SampleOptions {
  readonly tasks?: number;
  /** The text of every packet, and of all other texts in the archive. */
  readonly text?: string;
  /** Number of packets between document and answer in each task. */
  readonly steps?: number;
  /** Changes to files, by name; null leaves one out. */
  readonly files?: Readonly<Record<string, string | null>>;
}

type RecordedRun = ArchivedRun & { readonly recording: Recording };

const RUN_ID = '20261124-221000-5a3b1e';
const AGENTS = ['0', '1'];
const TASK_US = 10_000;

/**
 * Writes an archive like that of a run with two agents: for each task the document, the packets of agent 0, and the answer of
 * agent 1. A step takes a millisecond.
 */
export async function sampleArchive(options: SampleOptions = {}): Promise<string> {
  const { tasks = 1, text = 'hello', steps = 1, files = {} } = options;
  const packets = Array.from({ length: tasks }, (_, task) => packetsOf(task, steps, text)).flat();
  const types: Record<string, LedgerLine> = {};
  const total = createLedgerLine();
  const recorded: RecordedPacket[] = [];
  const hubLog: string[] = [];
  let at = 0;
  for (const { cause, tool_us, packet } of packets) {
    const [payload, blob] = [packet.payload, packet].map((value) => Buffer.byteLength(JSON.stringify(value)));
    const bytes = PREFIX_BYTES + (blob ?? 0);
    const line = {
      ...createLedgerLine(),
      packets: 1,
      payload: payload ?? 0,
      framing: PREFIX_BYTES,
      wire: bytes,
    };
    line.envelope = bytes - line.payload - line.framing;
    line.header_size = line.envelope + line.framing;
    types[packet.type] ??= createLedgerLine();
    addLine(types[packet.type] ?? createLedgerLine(), line);
    addLine(total, line);
    if (cause === null) {
      at += TASK_US;
      recorded.push({ cause, tool_us, relayed: { bytes, arrived_us: at, forwarded_us: at + 200 }, packet });
      continue;
    }
    const received_us = at + 300;
    at += 1000;
    const work = { received_us, sent_us: at - 50, decode_us: 10, engine_us: 0, encode_us: 20 };
    recorded.push({
      cause,
      tool_us,
      relayed: { bytes, arrived_us: at, forwarded_us: at + 30 },
      work,
      packet,
    });
    if (packet.tag === undefined) continue;
    const ending = { task_id: packet.task_id, answer: text, status: 'answered', elapsed_ms: 2 };
    hubLog.push(JSON.stringify({ event: 'task_ended', time: 0, token_sum: 0, ...ending }));
  }
  const header = { run_id: RUN_ID, team: text, final: '1', routing: 'broadcast', adapter: 'json' } as const;
  const agents = AGENTS.map((id) => ({ id, tool: text }));
  return packed({
    'metrics.json': JSON.stringify(metricsOf(options, types, total, recorded)),
    'recording.jsonl': formatRecording({
      header: { ...header, engine: text, agents },
      packets: recorded,
    }).join(''),
    'hub.log': hubLog.join('\n'),
    ...files,
  });
}

/** Writes the archive and reads it back. */
export async function sampleRun(options: SampleOptions = {}): Promise<RecordedRun> {
  const { recording, ...run } = await readArchivedRun(await sampleArchive(options));
  if (recording === null) throw new Error('the sample has no recording');
  return { ...run, recording };
}

function packetsOf(task: number, steps: number, text: string): RecordedPacket[] {
  const base = { task_id: `t-${task}`, token_used: 1, ts: 0 };
  const document: Packet = {
    type: 'doc_init',
    from: 'hub',
    id: `hub-${task}`,
    ...base,
    payload: { question: text },
  };
  const said = Array.from({ length: steps }, (_, step): Packet => {
    return { type: text.slice(0, 64), from: '0', id: `0-${task}-${step}`, ...base, payload: { text, step } };
  });
  const last = said.at(-1) ?? document;
  const payload = { answer: text };
  const answer: Packet = {
    type: 'data_event',
    from: '1',
    id: `1-${task}`,
    ...base,
    tag: 'final_answer',
    payload,
  };
  return [
    { cause: null, tool_us: 0, packet: document },
    ...said.map((packet) => ({ cause: document.id, tool_us: 100, packet })),
    { cause: last.id, tool_us: 100, packet: answer },
  ];
}

function metricsOf(
  { tasks = 1, text = 'hello' }: SampleOptions,
  types: RunMetrics['ledger']['types'],
  total: LedgerLine,
  recorded: readonly RecordedPacket[],
): RunMetrics {
  const noted = { packets: recorded.filter(({ cause }) => cause !== null).length, missing: [] };
  const traffic = { packets: total.wire, session: 50, acks: 0, sockets: total.wire + 50 };
  return {
    schema_version: 1,
    run_id: RUN_ID,
    status: 'answered',
    answer: tasks === 1 ? text : null,
    adapter: 'json',
    team: text,
    engine: text,
    bytes_tx: total.wire * 2,
    bytes_rx: total.wire,
    pkt_cnt: noted.packets,
    header_overhead: total.header_size,
    token_sum: total.packets,
    elapsed_ms: 2 * tasks,
    quality_score: null,
    exact_match: null,
    rouge_l: null,
    normalized_em: null,
    f1: null,
    token_source: 'embedded',
    init_bytes: 0,
    session_bytes: 100,
    ack_bytes: 0,
    refused_packets: 0,
    tasks,
    answered: tasks,
    warnings: [],
    agents: [],
    packet_types: {},
    ...buildRecordedMetrics(new Timeline(recorded), noted, [], new Map()),
    ledger: {
      balanced: true,
      differences: [],
      types,
      total,
      unbooked_bytes: 0,
      written: traffic,
      read: { ...traffic, refused: 0, torn: 0, repeated: 0 },
    },
  };
}

async function packed(files: Readonly<Record<string, string | null>>): Promise<string> {
  const folder = temporaryFolder();
  const names = Object.keys(files).filter((name) => files[name] !== null);
  for (const name of names) {
    mkdirSync(path.join(folder, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(folder, name), files[name] ?? '');
  }
  const file = path.join(temporaryFolder(), 'run_artifacts.tar.gz');
  await writeArchive(file, folder, {});
  return file;
}
