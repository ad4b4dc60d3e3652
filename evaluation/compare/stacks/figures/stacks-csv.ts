import { formatCsv } from '../../csv.ts';
import type { ByteLines, PairVerdict, StackArm, StacksFile } from './stacks-file.ts';
import { computeKeptBytes } from './stacks-table.ts';

/** Formats one line for each arm, with all numbers in full precision. */
export function formatStacksCsv({ arms }: StacksFile): string {
  return formatCsv(arms, toCsvRecord);
}

function toCsvRecord(arm: StackArm) {
  const { bytes, setup, cpu_us: cpu, latency_us: latency, vs_baseline: vs, saturation } = arm;
  return {
    name: arm.name,
    stack: arm.stack,
    implementation: arm.implementation,
    ...arm.settings,
    invocations: arm.invocations,
    exchanges: bytes.exchanges,
    bytes_per_exchange: bytes.per_exchange,
    bytes_repeatable: bytes.is_repeatable,
    ...toCsvLines('sent', bytes.sent),
    ...toCsvLines('received', bytes.received),
    one_way_exchanges: bytes.one_way?.exchanges,
    one_way_bytes_per_exchange: bytes.one_way?.per_exchange,
    setup_sent_bytes: setup.sent_bytes,
    setup_received_bytes: setup.received_bytes,
    setup_messages: setup.messages,
    setup_ms: setup.ms,
    setup_round_trips_at_most: setup.round_trips_at_most,
    setup_paid_back_bytes: setup.paid_back_bytes,
    setup_paid_back_time: setup.paid_back_time,
    client_user_us: cpu.client.user,
    client_system_us: cpu.client.system,
    server_user_us: cpu.server.user,
    server_system_us: cpu.server.system,
    latency_n: latency?.n,
    latency_us_p50: latency?.p50,
    latency_us_p99: latency?.p99,
    latency_us_p999: latency?.p999,
    ...Object.fromEntries(saturation.map(({ concurrency, per_s }) => [`per_s_at_${concurrency}`, per_s])),
    knee_per_s: arm.knee_per_s,
    client_rss_bytes: arm.rss_bytes.client,
    server_rss_bytes: arm.rss_bytes.server,
    kept_bytes_per_exchange: computeKeptBytes(arm.growth),
    bytes_ratio: vs?.bytes_ratio ?? 1,
    ...toCsvVerdict('latency', vs?.latency),
    ...toCsvVerdict('cpu', vs?.cpu),
    ...toCsvVerdict('saturated', vs?.saturated),
  };
}

function toCsvLines(way: string, lines: ByteLines) {
  return Object.fromEntries(Object.entries(lines).map(([line, value]) => [`${way}_${line}`, value]));
}

function toCsvVerdict(figure: string, verdict: PairVerdict | null | undefined) {
  return {
    [`${figure}_ratio`]: verdict?.ratio,
    [`${figure}_low`]: verdict?.low,
    [`${figure}_high`]: verdict?.high,
    [`${figure}_detectable`]: verdict?.detectable,
    [`${figure}_verdict`]: verdict?.verdict,
  };
}
