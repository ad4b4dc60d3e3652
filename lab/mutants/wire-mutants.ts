import type { Mutant } from './mutant.ts';

const handshake = ['core/wire/handshake.test.ts'];
const frames = [
  'core/wire/frame.test.ts',
  'core/wire/large-frames.test.ts',
  'core/wire/many-readers.test.ts',
];
const hub = [
  'core/hub/mesh-network.test.ts',
  'core/hub/mesh-agents.test.ts',
  'core/hub/request-reply.test.ts',
  'core/hub/backpressure.test.ts',
  'core/hub/relay.test.ts',
];

/** Bugs in the handshake and in frames. */
export const wireMutants: readonly Mutant[] = [
  // Handshake.
  {
    file: 'core/wire/handshake-keys.ts',
    find: 'return came.length === wanted.length && timingSafeEqual(came, wanted);',
    put: 'return came.length === wanted.length;',
    breaks: 'any proof of the right length is taken',
    tests: handshake,
  },
  {
    file: 'core/wire/handshake-keys.ts',
    find: 'computeHmac(secret, [role, wire, run, node, tool, adapter, nonce, agentNonce, said])',
    put: "computeHmac(secret, ['', wire, run, node, tool, adapter, nonce, agentNonce])",
    breaks: 'a proof can be sent back as the other side’s',
    tests: handshake,
  },
  {
    file: 'core/wire/handshake-keys.ts',
    find: 'computeHmac(secret, [role, wire, run, node, tool, adapter, nonce, agentNonce, said])',
    put: "computeHmac(secret, [role, wire, run, node, tool, adapter, nonce, '', said])",
    breaks: 'a recorded handshake can be played to a hub again',
    tests: handshake,
  },
  {
    file: 'core/wire/handshake-keys.ts',
    find: 'computeHmac(secret, [role, wire, run, node, tool, adapter, nonce, agentNonce, said])',
    put: 'computeHmac(secret, [role, wire, run, node, tool, adapter, nonce, agentNonce])',
    breaks: 'what was said beside is not proved',
    tests: handshake,
  },
  {
    file: 'core/wire/handshake.ts',
    find: 'if (side.isBusy()) refuse',
    put: 'if (false) refuse',
    breaks: 'two hubs at a time',
    tests: handshake,
  },
  {
    file: 'core/wire/handshake.ts',
    find: 'if (hello[key] !== welcome[key] && hello[key] !== ANY)',
    put: "if (hello[key] !== welcome[key] && hello[key] !== ANY && key !== 'tool')",
    breaks: 'an agent with another tool is taken',
    tests: handshake,
  },
  {
    file: 'core/wire/handshake.ts',
    find: 'verifyProof(hello.ticket, computeTicket(side.secret, hello))',
    put: 'true',
    breaks: 'any ticket is taken',
    tests: ['scripts/tests/commands/agent.test.ts'],
  },
  {
    file: 'core/wire/run-secret.ts',
    find: 'const MIN_SECRET_CHARACTERS = 16;',
    put: 'const MIN_SECRET_CHARACTERS = 1;',
    breaks: 'a secret may be guessed',
    tests: ['core/wire/run-secret.test.ts'],
  },
  {
    file: 'core/agent/agent.ts',
    find: 'find(({ isKnown }) => !isKnown)',
    put: 'find(({ isKnown }) => isKnown)',
    breaks: 'strangers keep the hub out',
    tests: ['lab/fuzz/hostile-bytes.test.ts', 'scripts/tests/commands/agent.test.ts'],
  },
  {
    file: 'core/wire/frame-intake.ts',
    find: 'if (this.#waiting.length > MAX_WAITING_BLOBS) {',
    put: 'if (false) {',
    breaks: 'a flood before the handshake is kept',
    tests: handshake,
  },
  // Frames.
  {
    file: 'core/wire/frame.ts',
    find: 'if (length <= this.#maxFrameBytes) return;',
    put: 'if (length <= 2 ** 32) return;',
    breaks: 'a frame of any length is waited for',
    tests: frames,
  },
  {
    file: 'core/wire/frame.ts',
    find: 'return length <= this.#maxFrameBytes && end <= this.#limit ? end : -1;',
    put: 'return end <= this.#limit + 1 ? end : -1;',
    breaks: 'a frame is taken a byte early',
    tests: frames,
  },
  {
    file: 'core/wire/frame.ts',
    find: 'this.#moveTo(Math.min(this.#frameBytes, MAX_GROWTH * this.pendingBytes));',
    put: 'this.#moveTo(this.#frameBytes);',
    breaks: 'a length takes memory',
    tests: frames,
  },
  {
    file: 'core/wire/frame.ts',
    find: 'const isFree = this.#slab.isUnshared;',
    put: 'const isFree = true;',
    breaks: 'a slab is written again while others read it',
    tests: frames,
  },
  {
    file: 'core/wire/large-frames.ts',
    find: 'if (others > 0 && others + bytes > MAX_LARGE_FRAMES_BYTES) break;',
    put: '',
    breaks: 'all large frames are read at once',
    tests: frames,
  },
  {
    file: 'core/wire/large-frames.ts',
    find: 'if (this.#turns.size > 0 && this.begunBytes + bytes > MAX_BEGUN_FRAMES_BYTES) break;',
    put: '',
    breaks: 'stalled frames hold memory without bound',
    tests: frames,
  },
  {
    file: 'core/wire/large-frames.ts',
    find: 'if (gone !== undefined) gone[0].destroy(createStallError(gone[1]));',
    put: '',
    breaks: 'who stops in a frame keeps others waiting',
    tests: frames,
  },
  {
    file: 'core/wire/slab.ts',
    find: 'if (this.#holders === 0) this.#onFree(this);',
    put: 'if (this.#holders <= 1) this.#onFree(this);',
    breaks: 'a slab is free while it is held',
    tests: ['core/wire/slab.test.ts'],
  },
  {
    file: 'core/transports/tcp/frame-socket.ts',
    find: 'slab.hold();',
    put: '',
    breaks: 'a slab is written over before the system took it',
    tests: ['core/transports/tcp/frame-socket.test.ts', ...hub],
  },
  {
    file: 'core/hub/delivery/direct.ts',
    find: 'if (this.#slab.isUnshared) this.#end = 0;',
    put: 'this.#end = 0;',
    breaks: 'what waits to be written is written over',
    tests: ['core/hub/delivery', ...hub],
  },
];
