import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RecordedPacket, Recording } from '@gaia-mesh/core/recording/recording.ts';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { expect, test } from 'vitest';
import { formatTelemetry } from '../export/otlp/open-telemetry.ts';
import { runTelemetry } from '../export/otlp/run-telemetry.ts';
import { importTraffic } from './import-traffic.ts';

/** All that a recording may say of a packet, and all that it may leave out. */
function recording(runId: string): Recording {
  const packet = (id: string, from: string, further: Partial<RecordedPacket['packet']> = {}) => ({
    type: 'said',
    from,
    id,
    task_id: 't\n"1"',
    token_used: 7,
    ts: 1_795_519_112_327,
    payload: { text: 'né ✅', deep: [{ n: 1.5, big: 9_007_199_254_740_991, no: null, '\\': true }] },
    ...further,
  });
  return {
    header: {
      run_id: runId,
      team: 'mixed',
      final: null,
      routing: 'direct',
      adapter: 'json+zstd',
      engine: 'unknown',
      agents: [
        { id: 'a', tool: 'read_file' },
        { id: 'b', tool: 'mine' },
      ],
      missing: ['2 packets'],
      guessed: ['one thing'],
      parts: [{ name: 'all', about: 'everything', tasks: ['t\n"1"'] }],
    },
    packets: [
      { cause: null, toolUs: 0, packet: packet('hub-1', 'hub', { type: 'doc_init', to: 'b' }) },
      {
        cause: 'hub-1',
        toolUs: 12.625,
        relayed: { bytes: 100, arrivedUs: 1_234_567_890_123, forwardedUs: 1_234_567_890_125 },
        work: {
          receivedAt: 1_234_567_890_001.25,
          sentAt: 1_234_567_890_101.5,
          decodeUs: 0.1,
          engineUs: 0,
          encodeUs: 1e-7,
        },
        packet: packet('b-1', 'b', { to: 'a', tag: 'urgent', log_uri: 'b/agent.log' }),
      },
      { cause: 'b-1', isCauseInferred: true, toolUs: null, packet: packet('a-1', 'a', { reply_to: 'b-1' }) },
      { cause: null, isCauseInferred: true, toolUs: null, packet: packet('b-2', 'b', { payload: {} }) },
    ],
  };
}

function spansOf(runId: string, hasContents = true): string[] {
  return formatTelemetry(runTelemetry({ recording: recording(runId), run: null, exchanges: [] }, hasContents))
    .spans;
}

function written(lines: readonly string[]): string {
  const file = path.join(temporaryFolder(), 'spans.jsonl');
  writeFileSync(file, lines.join('\n'));
  return file;
}

test('a recording comes back from its spans with all that it says', () => {
  const { recording: back, report } = importTraffic(written(spansOf('r')), null);
  expect(back).toEqual(recording('r'));
  expect(report).toMatchObject({ format: 'otlp', guessed: [], dropped: [] });
});

test('payloads that were not exported are missing by name', () => {
  const { recording: back } = importTraffic(written(spansOf('r', false)), null);
  expect(back.header.missing).toEqual(['2 packets', expect.stringContaining('payloads of 4 packets')]);
  expect(back.packets.map(({ cause, toolUs }) => [cause, toolUs])).toEqual(
    recording('r').packets.map(({ cause, toolUs }) => [cause, toolUs]),
  );
});

test('spans of two runs are no recording', () => {
  expect(() => importTraffic(written([...spansOf('r'), ...spansOf('s')]), null)).toThrow(
    'expected the packets of one run, found those of 2',
  );
});

test('a packet whose span was lost is named; one that caused others makes the file unusable', () => {
  const withoutSpan = (id: string) => written(spansOf('r').map((line) => withoutPacket(line, id)));
  expect(importTraffic(withoutSpan('a-1'), null).report.dropped.join()).toContain(
    'a packet: its span is missing',
  );
  expect(() => importTraffic(withoutSpan('b-1'), null)).toThrow('was caused by b-1, which is missing');
});

test('an id that somebody made up is refused', () => {
  const forged = spansOf('r').map((line) => line.replaceAll('"stringValue":"b"', '"stringValue":"c"'));
  expect(() => importTraffic(written(forged), null)).toThrow('is from c, which is no agent');
});

interface Spans {
  spans: { attributes: { key: string; value: { stringValue?: string } }[] }[];
}

function withoutPacket(line: string, id: string): string {
  const request: { resourceSpans: { scopeSpans: Spans[] }[] } = JSON.parse(line);
  for (const scope of request.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans))
    scope.spans = scope.spans.filter(({ attributes }) =>
      attributes.every(({ key, value }) => key !== 'gaia_mesh.packet.id' || value.stringValue !== id),
    );
  return JSON.stringify(request);
}
