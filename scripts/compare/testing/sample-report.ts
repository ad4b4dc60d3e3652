import { sampleLine } from '../../report/testing/sample-comparison.ts';
import type { ComparisonFile, Row } from '../comparison-report.ts';
import { cellsOf } from '../matrix.ts';

/** A report of these adapters on one packet; the first is the baseline. */
export async function sampleReport(specs: readonly string[]): Promise<ComparisonFile> {
  const null_test = { n: 20, ratio: 1.01, low: 0.97, high: 1.04, pValue: 0.5, effectSize: 0 };
  const adapters: Row[] = [];
  for (const [index, adapter] of specs.entries()) {
    const total = await sampleLine(adapter);
    const bytes = { ratio: 1.5, low: 1.5, high: 1.5, verdict: 'larger' } as const;
    const time = {
      ...null_test,
      ratio: 1.2,
      low: 1.1,
      high: 1.3,
      adjustedP: 0.01,
      verdict: 'slower',
    } as const;
    adapters.push({
      adapter,
      ledger: { types: { said: total }, total },
      bytes_on_wire: total.wire * 2,
      session_bytes: 1000,
      encode_us: 10,
      decode_us: 20,
      latency_us: { median: 5000, p95: null, p99: null },
      samples_us: [5000],
      rounds: 20,
      prompt_tokens: null,
      vs_baseline: index === 0 ? null : { bytes, time },
    });
  }
  const report = {
    schema_version: 1,
    run_id: 'sample',
    team: 'pipeline',
    engine: 'extractive',
    agents: 4,
    tasks: 1,
    packets: 1,
    seed: 7,
    environment: {
      ...{ gaia_mesh: '0.1.0', node: 'v24.0.0', platform: 'linux', arch: 'x64', os_release: '6.1' },
      ...{ cpu: 'Some CPU', cpus: 2, memory_bytes: 8 * 2 ** 30 },
    },
    baseline: specs[0] ?? '',
    null_test,
    adapters,
    rounds: 20,
    stopped: 'rounds',
    ...{ sentence: 'Adapter choice is 1 % of task time here.', spread_ms: 1, task_ms: 100, share: 0.01 },
    ...{ below_ms: 10, above_packets_per_s: 1000 },
  } as const;
  return { ...report, matrix: cellsOf(report) };
}
