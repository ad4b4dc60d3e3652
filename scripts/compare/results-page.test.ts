import { describe, expect, test } from 'vitest';
import { cellsOf } from './matrix.ts';
import type { HttpCosts } from './measure-http.ts';
import { resultsPage } from './results-page.ts';
import { sampleReport } from './testing/sample-report.ts';
import { tableBelow } from './testing/table-below.ts';

const report = await sampleReport(['json', 'msgpack+crc32c', 'a2a', 'mcp']);
const http: HttpCosts = {
  packets: 2,
  rows: [
    {
      adapter: 'a2a',
      client: 'the SDK',
      head: { up: 600, down: 400 },
      body: { up: 1000, down: 300 },
      records: 88,
    },
  ],
  unavailable: [{ adapter: 'a2a-proto', why: 'of gRPC' }],
  tls: { handshake: { up: 1663, down: 2450 }, certificate: 403 },
};
const facts = {
  report,
  http,
  command: 'npm run compare -- --write',
  revision: 'abc, changed',
  date: '2026-11-22',
};

describe('the results page', () => {
  const page = resultsPage(facts);

  test('says where, when, by what command and of what it was measured', () => {
    for (const fact of [
      'Written by `npm run compare -- --write`; do not edit.',
      '2 cores (Some CPU), 8 GiB, linux 6.1, Node v24.0.0',
      'Gaia Mesh 0.1.0, revision abc, changed; team pipeline, engine extractive, 4 agents',
      '2026-11-22; 1 packets of 1 task(s), 20 rounds (as many as were allowed), seed 7',
      'Adapter choice is 1 % of task time here.',
    ])
      expect(page).toContain(fact);
  });

  test('has a row an adapter', () => {
    const [head, , ...rows] = tableBelow(page, 'Adapters');
    expect(head).toContain('verdict');
    expect(rows.map(([adapter]) => adapter)).toEqual(['json', 'msgpack+crc32c', 'a2a', 'mcp']);
    for (const row of rows) expect(row).toHaveLength(head?.length ?? 0);
    expect(rows[1]?.slice(-3)).toEqual(['1.20', '1.10–1.30', 'slower']);
  });

  test('shows parts of bytes that sum to the wire', () => {
    const [, , ...rows] = tableBelow(page, 'Where the bytes are');
    expect(rows).toHaveLength(4);
    for (const [adapter, ...cells] of rows) {
      const numbers = cells.map((cell) => Number(cell.replaceAll(',', '')));
      const wire = numbers.pop();
      expect(
        numbers.reduce((sum, bytes) => sum + bytes),
        adapter,
      ).toBe(wire);
    }
  });

  test('explains the null test in a sentence, with its numbers', () => {
    expect(page).toContain(
      'took 1.010 times as long as the first (95 % interval 0.970–1.040), so whatever lies within 0.962–1.040',
    );
    const none = { ...report, null_test: { ...report.null_test, low: 0, high: Number.POSITIVE_INFINITY } };
    expect(resultsPage({ ...facts, report: none })).toContain('too few rounds for an interval');
  });

  test('sets HTTP and TLS beside, a packet at a time', () => {
    const [, , a2a] = tableBelow(page, 'What HTTP and TLS add');
    const mesh = report.adapters[2]?.ledger.total.wire ?? 0;
    expect(a2a?.slice(0, 8)).toEqual([
      'a2a',
      String(mesh),
      '300',
      '500',
      '200',
      '150',
      '1,150',
      (1150 - mesh).toLocaleString('en-US'),
    ]);
    expect(a2a?.at(-1)).toBe('44');
    expect(page).toContain('1,663 bytes from the client and 2,450 from the server');
    expect(page).toContain('`a2a-proto` was not measured: of gRPC.');
  });

  test('says that TLS was not measured, or HTTP', () => {
    const [row] = http.rows;
    if (row === undefined) throw new Error('no row');
    const plain = resultsPage({ ...facts, http: { ...http, rows: [{ ...row, records: null }], tls: null } });
    expect(plain).toContain('TLS was not measured');
    expect(tableBelow(plain, 'What HTTP and TLS add')[2]?.at(-1)).toBe('–');
    const none = resultsPage({ ...facts, http: { packets: 2, rows: [], unavailable: [], tls: null } });
    expect(none).toContain('None of the compared adapters was measured on HTTP.');
  });

  test('shows the matrix where there is one', () => {
    expect(page).not.toContain('## How the cost grows');
    const matrix = [...report.matrix, ...cellsOf({ ...report, agents: 16 })];
    const grown = tableBelow(resultsPage({ ...facts, report: { ...report, matrix } }), 'How the cost grows');
    expect(grown).toHaveLength(2 + 8);
  });

  test('says what the numbers cannot tell', () => {
    const [, limits = ''] = page.split('## What these numbers cannot tell\n');
    for (const limit of [
      'Loopback is not a network',
      'HTTP and TLS',
      'Broadcast',
      'one recorded run',
      'shared 2 cores',
    ])
      expect(limits).toContain(limit);
  });
});
