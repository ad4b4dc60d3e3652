/**
 * This hub with an adapter that cannot peek: every packet is decoded and validated whole.
 * Usage: decoding-hub.ts PORT PORT …
 */
import type { ProtocolAdapter } from '../../../core/adapter.ts';
import { MeshNetwork } from '../../../core/hub/mesh-network.ts';
import { routerNamed } from '../../../core/hub/routing.ts';
import { MAX_FRAME_BYTES } from '../../../core/limits.ts';
import { json } from '../../../protocols/json.ts';

const decoding: ProtocolAdapter = {
  name: 'decoding',
  open(session) {
    const { encode, decode, headerSize } = json.open(session);
    return { encode, decode, headerSize };
  },
};

await MeshNetwork.connect({
  runId: 'perf',
  host: '127.0.0.1',
  adapter: decoding,
  secret: '',
  nodes: process.argv.slice(2).map((port) => ({ id: 'any', tool: 'any', port: Number(port), secret: '' })),
  final: null,
  router: routerNamed('broadcast'),
  observer: {},
  maxFrameBytes: MAX_FRAME_BYTES,
  skipsHandshake: true,
});
console.log('ready');
process.once('SIGTERM', () => process.exit(0));
