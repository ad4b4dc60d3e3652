import { createLedgerLine, type LedgerLine, measureLine } from '@gaia-mesh/core/contracts/ledger.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { openMembers } from '@gaia-mesh/core/wire/members.ts';
import { loadAdapter } from '@gaia-mesh/protocols/registry.ts';
import { type AdaptersComparison, COMPARISON_VERSION, parseComparison } from '../comparison-file.ts';

const packet: Packet = {
  type: 'said',
  from: '0',
  id: '0-1',
  task_id: 't',
  token_used: 0,
  ts: 0,
  payload: { text: 'Its lamp was lit on 3 October 1868.', list: [1, 2, 3] },
};

/** Measures the ledger line of one packet with `spec`. */
async function sampleLine(spec: string): Promise<LedgerLine> {
  const codec = openMembers(await loadAdapter(spec), 'sample', ['0']).get('0');
  if (codec === undefined) return createLedgerLine();
  return measureLine(codec, packet, codec.encode(packet).length, codec.layerBytes?.last);
}

/** Builds a sample comparison and parses it. */
export async function sampleFile(specs: readonly string[], text = 'hello'): Promise<AdaptersComparison> {
  return parseComparison(JSON.stringify(await sampleComparison(specs, text)), 'sample', 'adapters');
}

/**
 * Builds the content of `comparison.json` for these adapters, the first of which is the baseline; `text` stands in every place that takes a
 * text.
 */
export async function sampleComparison(specs: readonly string[], text = 'hello'): Promise<object> {
  const interval = {
    invocations: 10,
    rounds: 3,
    low: 0.97,
    high: 1.04,
    ratio: 1.01,
    pValue: 0.5,
    spread: { invocations: 0.02, rounds: 0.03 },
    adjustedP: 0.5,
    adjustedEquivalenceP: 0.01,
    margin: 0.05,
    detectable: 1.04,
    needed: 10,
  };
  const samplesUs = (scale: number) =>
    Array.from({ length: 10 }, (_, invocation) =>
      [0, 1, 2].map((round) => 5000 * scale + (3 * invocation + round) * 100),
    );
  const samplesOf = (scale: number) => ({
    time: samplesUs(scale),
    cpu: [],
    first: [[20_000]],
    saturated: [],
  });
  const base = (await sampleLine(specs[0] ?? '')).wire;
  const arms = [];
  for (const [index, spec] of specs.entries()) {
    const total = await sampleLine(spec);
    const time = {
      ...interval,
      ratio: 1 + index / 5,
      low: 0.9 + index / 5,
      high: 1.1 + index / 5,
      detectable: 1.15,
      ...(index > 1 ? { verdict: 'different' } : { verdict: 'cannot tell', needed: 24 }),
    };
    arms.push({
      name: spec,
      invocations: 10,
      wire_bytes: total.wire,
      payload_bytes: total.payload,
      header_bytes: total.header_size,
      session_bytes: 1000,
      cpu_us: 3000,
      first_us: 20_000,
      latency_us: { n: 30, p50: 5000 * (1 + index), p95: null, p99: null, p999: null },
      samples_us: samplesOf(1 + index),
      ledger: { types: { said: total }, total },
      bytes_on_wire: total.wire * 2,
      encode_us: 10,
      decode_us: 20,
      first_code_us: 900,
      vs_baseline:
        index === 0
          ? null
          : {
              bytes: judgeSampleBytes(total.wire / base),
              time,
              cpu: time,
              first: null,
              saturated: null,
            },
    });
  }
  return {
    kind: 'adapters',
    schema_version: COMPARISON_VERSION,
    sentence: `anp is slower than json. ${text}`,
    run_id: 'sample',
    team: text,
    engine: 'extractive',
    agents: 4,
    tasks: 1,
    packets: 1,
    task_ms: 100,
    seed: 1,
    environment: { cpu: text, cpus: 2, node: 'v24.0.0' },
    baseline: specs[0] ?? '',
    margin: 0.05,
    null_test: {
      time: { ...interval, verdict: 'equivalent' },
      cpu: null,
      first: null,
      saturated: null,
      samples_us: samplesOf(1),
    },
    arms,
    invocations: 10,
    rounds: 3,
    passes: 20,
    elapsed_ms: 40_000,
    lost_invocations: 0,
    stopped: 'invocations',
    machine: [{ invocation: 0, round: 0, load: 1, steal_ms: 0, throttled_ms: null, available_bytes: 4e9 }],
    warnings: [],
    left_out: [],
    failed: [],
  };
}

function judgeSampleBytes(ratio: number) {
  const verdict = ratio < 1 ? 'smaller' : ratio > 1 ? 'larger' : 'equal';
  return { ratio, low: ratio, high: ratio, verdict };
}
