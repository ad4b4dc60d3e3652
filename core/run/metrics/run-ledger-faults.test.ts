import { describe, expect, it } from 'vitest';

import { FaultCounters, type Offer } from '../../hub/faults/fault-counters.ts';
import { buildRunLedger } from './run-ledger.ts';
import { handMadeRun, linkTo } from './testing/hand-made-run.ts';

/** Counts of mailboxes that agree with the hand-made run: six deliveries of 124 bytes in all. */
const mailboxes = () => ({
  counters: {
    noted: { packets: 6, bytes: 124 },
    acknowledged: { packets: 3, bytes: 100 },
    undeliverable: { packets: 2, bytes: 20 },
    repeated: { packets: 0, bytes: 0 },
    unwritten: { packets: 0, bytes: 0 },
    waiting: 1,
  },
});

describe('the mailboxes in the ledger', () => {
  it('balance where each delivery has one end, whatever was written again', () => {
    const acknowledged = mailboxes();
    acknowledged.counters.repeated = { packets: 4, bytes: 80 };
    acknowledged.counters.unwritten = { packets: 1, bytes: 24 };
    expect(buildRunLedger(handMadeRun().network, { acknowledged }).differences).toEqual([]);
  });

  it.each([
    ['noted', 'deliveries: 7 noted, 6 acknowledged, undeliverable or waiting'],
    ['acknowledged', 'deliveries: 6 noted, 7 acknowledged, undeliverable or waiting'],
    ['undeliverable', 'deliveries: 6 noted, 7 acknowledged, undeliverable or waiting'],
  ] as const)('are broken by one more that is %s', (line, broken) => {
    const acknowledged = mailboxes();
    acknowledged.counters[line].packets += 1;
    expect(buildRunLedger(handMadeRun().network, { acknowledged }).differences).toEqual([broken]);
  });

  it('are broken by a delivery that waits and was not noted, and by a byte that the relay has not', () => {
    const acknowledged = mailboxes();
    acknowledged.counters.waiting += 1;
    acknowledged.counters.noted.bytes += 1;

    const { balanced, differences } = buildRunLedger(handMadeRun().network, { acknowledged });

    expect(balanced).toBe(false);
    expect(differences).toEqual([
      'deliveries: 6 noted, 7 acknowledged, undeliverable or waiting',
      'deliveries: the relay counted 124 bytes, 125 were noted',
    ]);
  });
});

/** The hand-made run, where five notes were offered to `b`: one was written twice, one each met another fate. */
function faultyRun() {
  const run = handMadeRun();
  const faults = new FaultCounters();
  const count = (fate: Parameters<FaultCounters['count']>[0], to: 'a' | 'b', bytes = 24) => {
    const packet = { id: '1', type: 'note', from: 'a', task_id: 't' };
    faults.count(fate, { from: 'a', to, number: 1, bytes, packet: packet as Offer['packet'] });
  };
  count('offered', 'a', 100);
  count('delivered', 'a', 100);
  for (const fate of ['delivered', 'dropped', 'undeliverable'] as const) {
    count('offered', 'b');
    count(fate, 'b');
  }
  count('duplicated', 'b');
  run.note.bytes_tx = 3 * 24;
  Object.assign(run.b.counts, { packetsTx: 2, bytesTx: 48 });
  run.sockets.b.bytesWritten += 24;
  Object.assign(run.books.b.received, { packets: 2, bytes: 48 });
  return { ...run, faults, count };
}

describe('faults in the ledger', () => {
  it('have one line for each fate, and balance', () => {
    const { network, faults } = faultyRun();
    const { differences, faults: lines } = buildRunLedger(network, { faults });

    expect(differences).toEqual([]);
    expect(lines).toEqual({
      offered: { packets: 4, bytes: 172 },
      delivered: { packets: 2, bytes: 124 },
      dropped: { packets: 1, bytes: 24 },
      undeliverable: { packets: 1, bytes: 24 },
      duplicated: { packets: 1, bytes: 24 },
      unsent_bytes: 0,
    });
  });

  const offeredToB = [
    'faults: packets offered to agent b: expected 3, found 4',
    'faults: bytes offered to agent b: expected 72, found 96',
  ];
  it.each([
    [
      'offered',
      [
        'faults: bytes that the relay offered: expected 172, found 196',
        'faults: packets offered to agent b: expected 4, found 3',
        'faults: bytes offered to agent b: expected 96, found 72',
      ],
    ],
    [
      'delivered',
      [
        'faults: packets offered to agent b: expected 3, found 4',
        'faults: packets written to agent b: expected 3, found 2',
        'faults: bytes offered to agent b: expected 72, found 96',
        'faults: bytes written to agent b: expected 72, found 48',
      ],
    ],
    ['dropped', offeredToB],
    ['undeliverable', offeredToB],
    [
      'duplicated',
      [
        'faults: packets written to agent b: expected 3, found 2',
        'faults: bytes written to agent b: expected 72, found 48',
      ],
    ],
    ['delayed', []],
  ] as const)('are broken by exactly what one more that is %s changes', (fate, broken) => {
    const { network, faults, count } = faultyRun();
    count(fate, 'b');
    expect(buildRunLedger(network, { faults }).differences).toEqual(broken);
  });

  it('are offered what the mailboxes write again, and not what they never wrote', () => {
    const { network, faults } = faultyRun();
    const acknowledged = mailboxes();
    acknowledged.counters.noted.bytes = 172;
    acknowledged.counters.repeated = { packets: 1, bytes: 30 };
    acknowledged.counters.unwritten = { packets: 1, bytes: 30 };
    expect(buildRunLedger(network, { faults, acknowledged }).differences).toEqual([]);

    acknowledged.counters.unwritten.bytes = 10;

    expect(buildRunLedger(network, { faults, acknowledged }).differences).toEqual([
      'faults: bytes that the relay offered: expected 192, found 172',
    ]);
  });

  it('count an agent’s earlier connection with its present one, and what a lost one never sent', () => {
    const { network, b, books, sockets, faults } = faultyRun();
    const former = linkTo('b', {
      counts: { packetsTx: 1, bytesTx: 24, sessionTx: 7, ackTx: 2 },
      socket: { bytesWritten: 12, bytesRead: 0, pendingBytes: 0 },
    });
    former.alive = false;
    network.formerLinks.push(former);
    Object.assign(b.counts, { packetsTx: 1, bytesTx: 24 });
    Object.assign(books.b.received, { packets: 1, bytes: 24 });
    sockets.b.bytesWritten = 28;

    const { differences, faults: lines } = buildRunLedger(network, { faults });

    expect(differences).toEqual([]);
    expect(lines?.unsent_bytes).toBe(24 + 7 + 2 - 12);
  });

  it('find bytes that a lost connection sent and that neither the agent’s counts nor the faults have', () => {
    const { network, faults } = faultyRun();
    const former = linkTo('b', { counts: {}, socket: { bytesWritten: 12, bytesRead: 0, pendingBytes: 0 } });
    former.alive = false;
    network.formerLinks.push(former);

    expect(buildRunLedger(network, { faults }).differences).toEqual([
      'faults: the sockets wrote 12 bytes that no ledger has',
    ]);
  });
});
