import { emptyLine, type LedgerLine, lineOf } from '../../../core/ledger.ts';
import { openMembers } from '../../../core/members.ts';
import type { Packet } from '../../../core/packet.ts';
import { adapterNamed } from '../../../protocols/registry.ts';

const packet: Packet = {
  type: 'said',
  from: '0',
  id: '0-1',
  task_id: 't',
  token_used: 0,
  ts: 0,
  payload: { text: 'Its lamp was lit on 3 October 1868.', list: [1, 2, 3] },
};

/** The line of the ledger for one packet of `spec`. */
export async function sampleLine(spec: string): Promise<LedgerLine> {
  const codec = openMembers(await adapterNamed(spec), 'sample', ['0']).get('0');
  if (codec === undefined) return emptyLine();
  return lineOf(codec, packet, codec.encode(packet).length, codec.layerBytes?.last);
}

/** What `comparison.json` holds of these adapters, the first being the baseline; `text` stands wherever one can. */
export async function sampleComparison(specs: readonly string[], text = 'hello'): Promise<object> {
  const interval = { n: 20, low: 0.97, high: 1.04, ratio: 1.01, pValue: 0.5, effectSize: 0 };
  const adapters = [];
  for (const [index, spec] of specs.entries()) {
    const total = await sampleLine(spec);
    const time = { ...interval, ratio: 1 + index / 5, low: 0.9 + index / 5, high: 1.1 + index / 5 };
    const verdict = index > 1 ? 'slower' : 'no detectable difference';
    adapters.push({
      adapter: spec,
      ledger: { types: { said: total }, total },
      bytes_on_wire: total.wire * 2,
      session_bytes: 1000,
      encode_us: 10,
      decode_us: 20,
      latency_us: { median: 5000 * (1 + index), p95: null, p99: null },
      samples_us: Array.from({ length: 20 }, (_, round) => 5000 * (1 + index) + round * 100),
      rounds: 20,
      prompt_tokens: index === 0 ? 50 : null,
      vs_baseline:
        index === 0
          ? null
          : { bytes: { ratio: 1, low: 1, high: 1 }, time: { ...time, adjustedP: 0.01, verdict } },
    });
  }
  return {
    schema_version: 1,
    sentence: `Adapter choice is 1 % of task time here. ${text}`,
    run_id: 'sample',
    team: text,
    tasks: 1,
    packets: 1,
    seed: 1,
    environment: { cpu: text, node: 'v24.0.0' },
    baseline: specs[0] ?? '',
    null_test: interval,
    adapters,
    rounds: 20,
    stopped: 'rounds',
  };
}
