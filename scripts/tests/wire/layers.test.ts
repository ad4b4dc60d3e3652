import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { type CliResult, jsonLines, temporaryFolder } from '../../testing/cli.ts';
import { type Metrics, readMetrics } from '../../testing/run-files.ts';
import { teamFile } from '../../testing/team-file.ts';

describe.each([
  { spec: 'msgpack+zstd+ed25519+crc32c', overhead: 81, exchangesKeys: true },
  { spec: 'json+deflate+chacha20-poly1305', overhead: 29, exchangesKeys: true },
  { spec: 'json+brotli-dict+crc32c', overhead: 5, exchangesKeys: false },
])('a run over $spec', ({ spec, overhead, exchangesKeys }) => {
  const out = temporaryFolder();
  let run: CliResult;
  let metrics: Metrics;

  beforeAll(async () => {
    run = await callCli(['bench', '--adapter', spec, '--port-base', 'auto', '--out', out]);
    metrics = readMetrics(out);
  });

  test('answers as without layers', () => {
    expect(run).toMatchObject({ code: 0 });
    expect(metrics).toMatchObject({
      status: 'answered',
      adapter: spec,
      quality_score: 1,
      refused_packets: 0,
    });
  });

  test('has every byte on a line of a ledger that balances', () => {
    const { ledger } = metrics;
    expect(ledger).toMatchObject({ balanced: true, differences: [], unbooked_bytes: 0 });
    for (const line of [...Object.values(ledger.types), ledger.total]) {
      expect(line.framing + line.envelope + line.payload + line.payload_coding + line.layers).toBe(line.wire);
      expect(line.header_size).toBe(line.framing + line.envelope + overhead * line.packets);
    }
    // The document is compressed; the answer is too small for it, and only carries what is always added.
    expect(ledger.types.doc_init?.layers).toBeLessThan(-4000);
    expect(ledger.types.data_event?.layers).toBeLessThanOrEqual(overhead);
    expect(ledger.total.layers).not.toBe(0);
  });

  test.runIf(exchangesKeys)('counts the exchange of keys as session bytes', () => {
    // Every agent is told everybody's.
    expect(metrics.session_bytes).toBeGreaterThan(5500);
  });

  test('names nothing as refused in any log', () => {
    for (const id of ['0', '1', '2', '3']) {
      const lines = jsonLines(path.join(out, 'workspaces', id, 'agent.log'));
      expect(lines.filter((line) => 'refused' in line)).toEqual([]);
    }
  });
});

describe('a stack that cannot be', () => {
  test('is refused on the command line, and nothing is written', async () => {
    const out = path.join(temporaryFolder(), 'out');
    const { code, stderr } = await callCli(['bench', '--adapter', 'json+crc32c+zstd', '--out', out]);

    expect(code).toBe(2);
    expect(stderr).toContain('zstd (compress) cannot follow crc32c (checksum)');
    expect(stderr).toContain('compress, sign, encrypt, checksum');
  });

  test('is refused in a team file, with its line', async () => {
    const team = teamFile({ adapter: 'json+gzip', final: 3, agents: [{ id: 3, tool: 'reason' }] });
    const { code, stderr } = await callCli(['bench', '--team', team]);

    expect(code).toBe(2);
    expect(stderr).toContain(`${team}:4: adapter: unknown layer "gzip"; known: deflate`);
  });
});
