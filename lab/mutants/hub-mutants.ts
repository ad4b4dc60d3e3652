import type { Mutant } from './mutant.ts';

const hub = [
  'core/hub/mesh-network.test.ts',
  'core/hub/mesh-agents.test.ts',
  'core/hub/request-reply.test.ts',
  'core/hub/backpressure.test.ts',
  'core/hub/relay.test.ts',
  'core/hub/authorizer.test.ts',
  'core/agent/requests.test.ts',
];
/** A test with thousands of packets. */
const volume = ['lab/fuzz/volume.test.ts'];
const hostile = ['scripts/tests/run/hostile-agent.test.ts'];
const delivery = ['core/hub/delivery'];
const ledger = ['core/run/metrics', 'core/contracts/ledger.test.ts'];
const outbox = ['core/agent/outbox.test.ts'];

/** Bugs in rights, relay, ledger and acknowledged delivery. */
export const hubMutants: readonly Mutant[] = [
  // Rights.
  {
    file: 'core/hub/authorizer.ts',
    find: 'if (head.from !== sender.node.id && sender.node.isForeign !== true)',
    put: 'if (false)',
    breaks: 'an agent speaks under another’s name',
    tests: [...hub, ...hostile],
  },
  {
    file: 'core/hub/authorizer.ts',
    find: 'if (node.id !== final) {',
    put: 'if (false) {',
    breaks: 'anybody answers',
    tests: [...hub, ...hostile],
  },
  {
    file: 'core/hub/authorizer.ts',
    find: 'if (head.tag === TASK_FAILED && node.mayFail === false) {',
    put: 'if (false) {',
    breaks: 'anybody ends a task',
    tests: hostile,
  },
  {
    file: 'core/hub/authorizer.ts',
    find: 'const recipients = this.#isClosed ? NOBODY : router.recipients(head, sender);',
    put: 'const recipients = router.recipients(head, sender);',
    breaks: 'packets go on while the ledger is closed',
    tests: hub,
  },
  {
    file: 'core/hub/authorizer.ts',
    find: 'if (open === 0) {',
    put: 'if (open < 0) {',
    breaks: 'an agent addresses whom it likes',
    tests: hub,
  },
  {
    file: 'core/hub/authorizer.ts',
    find: 'this.#open.set(asked, open - 1);',
    put: '',
    breaks: 'one request allows any number of packets back',
    tests: hub,
  },
  {
    file: 'core/agent/requests.ts',
    find: 'if (request === undefined || request.partner !== from) return false;',
    put: 'if (request === undefined) return false;',
    breaks: 'a reply from the wrong agent counts',
    tests: hub,
  },
  {
    file: 'core/agent/requests.ts',
    find: 'for (const stop of unwatch) stop();',
    put: '',
    breaks: 'listeners of requests leak',
    tests: hub,
  },
  {
    file: 'core/agent/work.ts',
    find: '    this.#tokens = 0;\n    this.#engineUs = 0;',
    put: '    this.#engineUs = 0;',
    breaks: 'tokens are counted twice',
    tests: hub,
  },
  // Relay and backpressure.
  {
    file: 'core/hub/relay.ts',
    find: 'if (batch !== undefined && packet?.recipients !== batch.recipients) {',
    put: 'if (batch !== undefined && packet !== undefined && packet.recipients !== batch.recipients) {',
    breaks: 'a refused packet is relayed with its neighbours',
    tests: [...hub, ...hostile],
  },
  {
    file: 'core/hub/link.ts',
    find: 'last.end === start) last.end = end;',
    put: 'last.end >= 0) last.end = end;',
    breaks: 'an agent hears what is not for it',
    tests: ['core/hub/delivery', ...hub],
  },
  {
    file: 'core/hub/mesh-network.ts',
    find: 'looksInVain = isMoving ? 0 : looksInVain + 1;',
    put: 'looksInVain = 0;',
    breaks: 'an agent that takes nothing is never cut off',
    tests: hub,
  },
  {
    file: 'core/hub/mesh-network.ts',
    find: 'for (const other of this.#links) other.holdReading(FULL_QUEUE);',
    put: '',
    breaks: 'the hub’s memory grows with a slow agent',
    tests: hub,
  },
  {
    file: 'core/hub/mesh-network.ts',
    find: 'if (this.#full.size === 0) for',
    put: 'for',
    breaks: 'one that has drained opens the way to another that is full',
    tests: hub,
  },
  {
    file: 'core/hub/relay.ts',
    find: 'if (packet === undefined) continue;',
    put: 'if (packet === undefined || Math.random() < 1e-4) continue;',
    breaks: 'a packet in ten thousand is lost',
    tests: volume,
  },
  {
    file: 'core/hub/authorizer.ts',
    find: 'counts.bytesRx += frameBytes;',
    put: 'counts.bytesRx += frameBytes + (Math.random() < 1e-3 ? 1 : 0);',
    breaks: 'a byte is counted twice now and then',
    tests: volume,
  },
  {
    file: 'core/hub/link.ts',
    find: 'deliverPart(slab: Slab, start: number, end: number, packets: number): void {\n    this.flush();',
    put: 'deliverPart(slab: Slab, start: number, end: number, packets: number): void {',
    breaks: 'a long packet overtakes short ones',
    tests: [...hub, ...volume],
  },
  // Ledger.
  {
    file: 'core/run/metrics/run-ledger.ts',
    find: 'balanced: differences.length === 0,',
    put: 'balanced: true,',
    breaks: 'the ledger’s check is switched off',
    tests: ledger,
  },
  {
    file: 'core/run/metrics/run-ledger.ts',
    find: 'if (ours !== theirs)',
    put: 'if (ours > theirs + 1)',
    breaks: 'the ledger is blind to small differences',
    tests: ledger,
  },
  {
    file: 'core/run/metrics/run-ledger.ts',
    find: "expect('bytes read', readBytes + socket.pendingBytes, socket.bytesRead);",
    put: '',
    breaks: 'bytes that were read and not booked are missed',
    tests: ledger,
  },
  {
    file: 'core/run/metrics/run-ledger.ts',
    find: "expect('bytes from it', bytesRx + refusedBytes + repeatedBytes, sent.wire);",
    put: '',
    breaks: 'bytes that a sender booked and nobody got are missed',
    tests: ledger,
  },
  {
    file: 'core/run/metrics/run-ledger.ts',
    find: "expect('packets to it', counts.packetsTx, books.received.packets + books.refused.packets);",
    put: '',
    breaks: 'packets that got lost on the way are missed',
    tests: ledger,
  },
  {
    file: 'core/run/metrics/run-ledger.ts',
    find: 'if (parts !== total.wire)',
    put: 'if (false)',
    breaks: 'lines that do not sum to the packets are missed',
    tests: ledger,
  },
  {
    file: 'core/contracts/ledger.ts',
    find: 'sum.wire += line.wire * times;',
    put: 'sum.wire += line.wire;',
    breaks: 'copies are booked once',
    tests: ledger,
  },
  {
    file: 'core/contracts/ledger.ts',
    find: 'payload_coding: wire - PREFIX_BYTES - envelope - payload - layerBytes,',
    put: 'payload_coding: wire - PREFIX_BYTES - envelope - payload,',
    breaks: 'bytes of layers are on two lines',
    tests: ledger,
  },
  {
    file: 'core/hub/authorizer.ts',
    find: 'sender.counts.refusedBytes += frameBytes;',
    put: '',
    breaks: 'refused bytes are on no line',
    tests: [...hub, ...hostile],
  },
  {
    file: 'core/contracts/others.ts',
    find: 'entries.size < MAX_PACKET_TYPES ? key : OTHERS',
    put: 'key',
    breaks: 'invented types fill the memory',
    tests: hostile,
  },
  // Acknowledged delivery.
  {
    file: 'core/hub/delivery/acknowledged.ts',
    find: 'if (ids.has(packetId)) return false;',
    put: '',
    breaks: 'a packet that comes twice is relayed twice',
    tests: delivery,
  },
  {
    file: 'core/hub/delivery/acknowledged.ts',
    find: 'if (ids.size > 2 * MAX_OUTBOX_PACKETS && oldest !== undefined) ids.delete(oldest);',
    put: 'if (ids.size > 2 && oldest !== undefined) ids.delete(oldest);',
    breaks: 'the window of duplicates is too small',
    tests: delivery,
  },
  {
    file: 'core/hub/delivery/mailbox.ts',
    find: 'this.#waiting = [...this.#entries.values()];',
    put: '',
    breaks: 'what was lost with a connection is not sent again',
    tests: delivery,
  },
  {
    file: 'core/hub/delivery/mailbox.ts',
    find: 'if (this.#isAbandoned || this.#entries.has(id)) {',
    put: 'if (this.#isAbandoned) {',
    breaks: 'one sender pushes out another’s packet',
    tests: delivery,
  },
  {
    file: 'core/hub/delivery/mailbox.ts',
    find: 'if (entry.isInProgress || nowMs - entry.writtenMs < patienceMs) continue;',
    put: 'if (nowMs - entry.writtenMs < patienceMs) continue;',
    breaks: 'what is worked on is sent again',
    tests: delivery,
  },
  {
    file: 'core/agent/outbox.ts',
    find: 'if (done !== undefined) this.#remember(done);',
    put: '',
    breaks: 'finished work is done twice',
    tests: outbox,
  },
  {
    file: 'core/agent/outbox.ts',
    find: 'this.#kept.splice(0, index + 1);',
    put: 'this.#kept.splice(0, index);',
    breaks: 'what the hub has is sent again',
    tests: outbox,
  },
  {
    file: 'core/agent/outbox.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is source code
    find: 'renameSync(`${this.#file}.part`, this.#file);',
    put: 'writeFileSync(this.#file, text);',
    breaks: 'an outbox is half of itself for a moment',
    tests: outbox,
  },
];
