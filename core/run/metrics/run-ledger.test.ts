import { describe, expect, it } from 'vitest';
import { createLedgerLine } from '../../contracts/ledger.ts';
import { MAX_PACKET_TYPES } from '../../contracts/limits.ts';
import { OTHERS } from '../../contracts/others.ts';
import { DOC_INIT } from '../../contracts/packet.ts';
import { startMesh, toolOf } from '../../testing/mesh.ts';
import { buildRunLedger } from './run-ledger.ts';
import { booksOf, handMadeRun, lineOf, linkTo } from './testing/hand-made-run.ts';

/** A mesh of two agents that has answered a task, and closed its books. */
async function settledMesh() {
  const note = toolOf(DOC_INIT, 'note', async (_packet, { countTokens }) => {
    countTokens(7);
    return [{ type: 'note', payload: { text: 'a note' } }];
  });
  const answer = toolOf('note', 'data_event', async () => [
    { type: 'data_event', tag: 'final_answer', payload: { answer: 'yes' } },
  ]);
  const { network, ask } = await startMesh([note, answer]);
  await ask('t', { text: 'a document' });
  await network.settle();
  return network;
}

describe('the ledger of a run', () => {
  it('balances, and has each byte of the sockets on one line', async () => {
    const { balanced, differences, types, total, written, read } = buildRunLedger(await settledMesh());

    expect({ balanced, differences }).toEqual({ balanced: true, differences: [] });
    expect(Object.keys(types).sort()).toEqual(['data_event', DOC_INIT, 'note']);
    expect(written.packets + written.session + written.acks).toBe(written.sockets);
    expect(read.packets + read.session + read.acks + read.refused + read.torn).toBe(read.sockets);
    expect(total.framing + total.envelope + total.payload + total.payload_coding + total.layers).toBe(
      total.wire,
    );
    expect(read.packets).toBe((types.note?.wire ?? 0) + (types.data_event?.wire ?? 0));
  });

  it('finds bytes that were read and that neither side has booked', async () => {
    const network = await settledMesh();
    const [link] = network.links;
    if (link?.ledgerReport === undefined) throw new Error('no books');
    // Both sides forget the same packet: only the socket knows of it.
    link.counts.bytesRx -= 1;
    const [sent] = link.ledgerReport.sent;
    if (sent === undefined) throw new Error('nothing was sent');
    sent.line.wire -= 1;
    sent.line.envelope -= 1;

    expect(buildRunLedger(network).differences).toEqual([expect.stringContaining('bytes read')]);
  });

  it('has the tokens that a tool counted once, whatever it sends after', async () => {
    const { links } = await settledMesh();
    expect(links.map(({ counts }) => counts.tokens)).toEqual([7, 0]);
  });
});

describe('the ledger of a run that was written by hand', () => {
  it('misses the books of a living agent that has some, and not those of one that is lost or has none', () => {
    const { network, a, b } = handMadeRun();
    a.ledgerReport = undefined;
    const decoded = new Map([[a, new Map([['note', lineOf(10)]])]]);
    expect(buildRunLedger(network, { decoded }).differences).toEqual(['agent a (as) handed in no ledger']);
    a.alive = false;
    expect(buildRunLedger(network, { decoded }).differences).toEqual([]);
    const { counts } = a;
    const socket = { bytesWritten: 146, bytesRead: 59, pendingBytes: 0 };
    network.links = [linkTo('a', { counts, socket, emits: [] }), b];
    expect(buildRunLedger(network).differences).toEqual([]);
  });

  it('has no line for a document that the hub did not send', () => {
    const { network } = handMadeRun();
    network.ownLine = createLedgerLine();
    expect(Object.keys(buildRunLedger(network).types)).toEqual(['note', 'data_event']);
  });

  it('has each sum', () => {
    expect(buildRunLedger(handMadeRun().network)).toEqual({
      balanced: true,
      differences: [],
      types: { [DOC_INIT]: lineOf(86), note: lineOf(10), data_event: lineOf(20) },
      total: {
        packets: 3,
        wire: 158,
        payload: 116,
        framing: 12,
        envelope: 21,
        payload_coding: 6,
        layers: 3,
        header_size: 36,
        net: 42,
      },
      unbooked_bytes: 0,
      written: { packets: 124, session: 44, acks: 6, sockets: 174 },
      read: { packets: 58, session: 33, acks: 5, refused: 0, torn: 0, repeated: 0, sockets: 96 },
      connection: undefined,
      faults: undefined,
    });
  });

  it.each([
    ['packetsTx', ['packets to it: the hub has 2, the other side 1']],
    [
      'bytesTx',
      [
        'bytes written: the hub has 147, the other side 146',
        'bytes to it: the hub has 101, the other side 100',
      ],
    ],
    ['sessionTx', ['bytes written: the hub has 147, the other side 146']],
    ['ackTx', ['bytes written: the hub has 147, the other side 146']],
    ['packetsRx', ['packets from it: the hub has 2, the other side 1']],
    [
      'bytesRx',
      ['bytes read: the hub has 60, the other side 59', 'bytes from it: the hub has 25, the other side 24'],
    ],
    ['sessionRx', ['bytes read: the hub has 60, the other side 59']],
    ['ackRx', ['bytes read: the hub has 60, the other side 59']],
    ['refusedPackets', ['packets from it: the hub has 2, the other side 1']],
    [
      'refusedBytes',
      ['bytes read: the hub has 60, the other side 59', 'bytes from it: the hub has 25, the other side 24'],
    ],
    ['repeatedPackets', ['packets from it: the hub has 2, the other side 1']],
    [
      'repeatedBytes',
      ['bytes read: the hub has 60, the other side 59', 'bytes from it: the hub has 25, the other side 24'],
    ],
    ['tokens', []],
  ] as const)('is told by exactly what %s of one more breaks', (counter, broken) => {
    const { network, a } = handMadeRun();
    a.counts[counter] += 1;

    const { balanced, differences } = buildRunLedger(network);

    expect(differences).toEqual(broken.map((difference) => `agent a (as): ${difference}`));
    expect(balanced).toBe(broken.length === 0);
  });

  it.each([
    ['received', 'packets', 'packets to it: the hub has 1, the other side 2'],
    ['received', 'bytes', 'bytes to it: the hub has 100, the other side 101'],
    ['refused', 'packets', 'packets to it: the hub has 1, the other side 2'],
    ['refused', 'bytes', 'bytes to it: the hub has 100, the other side 101'],
  ] as const)('sees one more of %s %s in the books of an agent', (line, unit, broken) => {
    const { network, books } = handMadeRun();
    books.a[line][unit] += 1;

    expect(buildRunLedger(network).differences).toEqual([`agent a (as): ${broken}`]);
  });

  it('balances where a packet was refused on either side, and where one came twice', () => {
    const { network, a, books, sockets } = handMadeRun();
    // Of two further notes the hub refused one and had the other already; `a` refused the document.
    Object.assign(a.counts, { refusedPackets: 1, refusedBytes: 16, repeatedPackets: 1, repeatedBytes: 17 });
    sockets.a.bytesRead += 16 + 17;
    books.a.sent.push({ type: 'note', line: lineOf(2), tool_us: 0, encode_us: 0 });
    books.a.sent.push({ type: 'note', line: lineOf(3), tool_us: 0, encode_us: 0 });
    Object.assign(books.a, { received: { packets: 0, bytes: 0, decode_us: 0 } });
    Object.assign(books.a, { refused: { packets: 1, bytes: 100 } });

    const { differences, read, types } = buildRunLedger(network);

    expect(differences).toEqual([]);
    expect(read).toEqual({
      packets: 58,
      session: 33,
      acks: 5,
      refused: 16,
      torn: 0,
      repeated: 17,
      sockets: 129,
    });
    expect(types.note).toMatchObject({ packets: 3, wire: 24 + 16 + 17, payload: 15 });
  });

  it('counts a frame in the middle of which the run ended, and one that the end of a connection cut', () => {
    const { network, b, sockets } = handMadeRun();
    sockets.a.bytesRead += 7;
    sockets.a.pendingBytes = 7;
    sockets.b.bytesRead += 5;
    // The bytes of a dead connection are torn by what its counts do not have; nothing waits there.
    sockets.b.pendingBytes = 3;
    b.alive = false;

    const { differences, read } = buildRunLedger(network);

    expect({ differences, torn: read.torn, sockets: read.sockets }).toEqual({
      differences: [],
      torn: 12,
      sockets: 96 + 12,
    });
  });

  it('takes a frame for broken that neither waits nor was counted', () => {
    const { network, sockets } = handMadeRun();
    sockets.a.pendingBytes = 1;
    expect(buildRunLedger(network).differences).toEqual([
      'agent a (as): bytes read: the hub has 60, the other side 59',
    ]);
  });

  it('asks no dead agent for its books, nor its socket for what it had not sent', () => {
    const { network, b, sockets } = handMadeRun();
    b.alive = false;
    b.ledgerReport = undefined;
    sockets.b.bytesWritten = 20;

    const { balanced, differences, types, unbooked_bytes } = buildRunLedger(network);

    expect({ balanced, differences, unbooked_bytes }).toEqual({
      balanced: true,
      differences: [],
      unbooked_bytes: 34,
    });
    expect(Object.keys(types)).toEqual([DOC_INIT, 'note']);
  });

  it('has the earlier connection of an agent that came back, before the present ones', () => {
    const { network } = handMadeRun();
    const former = linkTo('b', {
      counts: { packetsRx: 1, bytesRx: 15, bytesTx: 24, packetsTx: 1 },
      socket: { bytesWritten: 24, bytesRead: 15, pendingBytes: 0 },
    });
    former.alive = false;
    former.ledgerReport = booksOf([['early', lineOf(1)]], { packets: 1, bytes: 24 });
    network.formerLinks.push(former);

    const { differences, types, written, read } = buildRunLedger(network);

    expect(differences).toEqual([]);
    expect(Object.keys(types)).toEqual([DOC_INIT, 'early', 'note', 'data_event']);
    expect([written.packets, written.sockets, read.packets, read.sockets]).toEqual([148, 198, 73, 111]);
  });

  it('books what the hub decoded of a foreign agent, and only of the one that has no books', () => {
    const { network, a } = handMadeRun();
    const foreign = linkTo('x', {
      counts: { packetsRx: 3, bytesRx: 60 },
      socket: { bytesWritten: 0, bytesRead: 60, pendingBytes: 0 },
      emits: [],
    });
    network.links.push(foreign);
    const decoded = new Map([
      [
        foreign,
        new Map([
          ['note', lineOf(1)],
          ['other', lineOf(11)],
        ]),
      ],
      [a, new Map([['note', lineOf(500)]])],
    ]);

    const { differences, types, total, unbooked_bytes } = buildRunLedger(network, { decoded });

    expect({ differences, unbooked_bytes }).toEqual({ differences: [], unbooked_bytes: 60 - 15 - 25 });
    expect(types.note).toMatchObject({ packets: 2, wire: 24 + 15 });
    expect(types.other).toEqual(lineOf(11));
    expect(total.wire).toBe(158 + 15 + 25);
    expect(buildRunLedger(network).unbooked_bytes).toBe(60);
  });

  it.each(['framing', 'envelope', 'payload', 'payload_coding', 'layers'] as const)(
    'is broken by one byte too many of %s',
    (part) => {
      const { network } = handMadeRun();
      network.ownLine[part] += 1;
      expect(buildRunLedger(network).differences).toEqual(['the lines sum to 159 bytes, the packets to 158']);
    },
  );

  it('has what is beyond the bound of types on one line', () => {
    const { network, a, books, sockets } = handMadeRun();
    const more = MAX_PACKET_TYPES;
    for (let type = 0; type < more; type++)
      books.a.sent.push({ type: `t${type}`, line: lineOf(1), tool_us: 0, encode_us: 0 });
    a.counts.packetsRx += more;
    a.counts.bytesRx += more * 15;
    sockets.a.bytesRead += more * 15;

    const { differences, types } = buildRunLedger(network);

    expect(differences).toEqual([]);
    // The document, the note and 998 more have lines of their own; two more and the answer do not.
    expect(Object.keys(types)).toHaveLength(MAX_PACKET_TYPES + 1);
    expect(types[OTHERS]).toMatchObject({ packets: 3, wire: 15 + 15 + 34 });
  });

  it('hands on what the transport’s own connection carried', () => {
    const connection = { written: 9, read: 8 };
    expect(buildRunLedger(handMadeRun().network, { connection }).connection).toEqual(connection);
  });
});
