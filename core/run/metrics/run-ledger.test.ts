import { describe, expect, it } from 'vitest';
import { DOC_INIT } from '../../contracts/packet.ts';
import { startMesh, toolOf } from '../../testing/mesh.ts';
import { buildRunLedger } from './run-ledger.ts';

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

  // Each by one: whoever looks for large differences alone finds none of them.
  it.each([
    ['a byte too many from an agent', 'bytesRx', 1, 'bytes from it'],
    ['a byte too few from an agent', 'bytesRx', -1, 'bytes from it'],
    ['a byte too many to an agent', 'bytesTx', 1, 'bytes to it'],
    ['a byte too few to an agent', 'bytesTx', -1, 'bytes to it'],
    ['a packet too many from an agent', 'packetsRx', 1, 'packets from it'],
    ['a packet too few to an agent', 'packetsTx', -1, 'packets to it'],
    ['a byte of the session that was read and not counted', 'sessionRx', -1, 'bytes read'],
    ['a byte of the session that was written and not counted', 'sessionTx', -1, 'bytes written'],
    ['a byte too many that was refused', 'refusedBytes', 1, 'bytes from it'],
    ['a byte too many that came twice', 'repeatedBytes', 1, 'bytes from it'],
  ] as const)('finds %s', async (_what, counter, change, named) => {
    const network = await settledMesh();
    const [link] = network.links;
    if (link === undefined) throw new Error('no link');
    link.counts[counter] += change;

    const { balanced, differences } = buildRunLedger(network);

    expect(balanced).toBe(false);
    expect(differences.join('\n')).toContain(named);
    for (const difference of differences) expect(difference).toContain('agent 0 (doc_init-to-note)');
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

  it('finds lines that do not sum to the packets', async () => {
    const network = await settledMesh();
    network.ownLine.envelope += 1;

    const { differences } = buildRunLedger(network);

    expect(differences).toEqual([expect.stringContaining('the lines sum to')]);
  });

  it('finds an agent that handed in no ledger', async () => {
    const network = await settledMesh();
    const [link] = network.links;
    if (link === undefined) throw new Error('no link');
    link.ledgerReport = undefined;

    expect(buildRunLedger(network).differences).toEqual(['agent 0 (doc_init-to-note) handed in no ledger']);
  });

  it('has the tokens that a tool counted once, whatever it sends after', async () => {
    const { links } = await settledMesh();
    expect(links.map(({ counts }) => counts.tokens)).toEqual([7, 0]);
  });
});
