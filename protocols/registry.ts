import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { createRegistry, createUnknownError } from '@gaia-mesh/core/contracts/registry.ts';
import { applyLayers } from './layers/apply-layers.ts';
import { findStage, layerNames, loadLayer } from './layers/registry.ts';

const adapters = createRegistry<ProtocolAdapter>('adapter', {
  json: async () => (await import('./json.ts')).json,
  msgpack: async () => (await import('./msgpack.ts')).msgpack,
  'msgpack-records': async () => (await import('./msgpack-records.ts')).msgpackRecords,
  cbor: async () => (await import('./cbor.ts')).cbor,
  protobuf: async () => (await import('./protobuf.ts')).protobuf,
  toon: async () => (await import('./toon.ts')).toon,
  a2a: async () => (await import('./a2a.ts')).a2a,
  'a2a-proto': async () => (await import('./a2a-proto.ts')).a2aProto,
  mcp: async () => (await import('./mcp.ts')).mcp,
  anp: async () => (await import('./anp.ts')).anp,
  'anp-e2ee': async () => (await import('./anp-e2ee.ts')).anpE2ee,
});

/** A description of each adapter for `list adapters`. */
const SUMMARIES: Readonly<Record<string, string>> = {
  json: 'compact JSON',
  msgpack: 'MessagePack, which every implementation reads',
  'msgpack-records': 'MessagePack with a table of known structures that both ends share',
  cbor: 'CBOR (RFC 8949), which every implementation reads',
  protobuf: 'Protocol Buffers, with the payload as JSON',
  toon: 'TOON, a text form of JSON with fewer tokens',
  a2a: 'Agent2Agent 1.0 as JSON-RPC',
  'a2a-proto': 'Agent2Agent 1.0 as protobuf, as in its gRPC binding',
  mcp: 'Model Context Protocol: each packet is a call of a tool',
  anp: 'Agent Network Protocol, signed',
  'anp-e2ee': 'Agent Network Protocol, encrypted from end to end',
};

export const describeAdapter = (name: string): string => SUMMARIES[name] ?? '';

/** Names of the adapters without layers; `layers/registry.ts` has those of the layers. */
export const adapterNames = adapters.names;

/** Registers an adapter of the user's under its name. */
export const addAdapter = (adapter: ProtocolAdapter): void => adapters.add(adapter.name, adapter);

/**
 * Loads the adapter that `spec` names, with the layers that it names: `json`, `msgpack+zstd+ed25519`.
 *
 * @throws MeshError `usage` for unknown names, and for layers in the wrong order
 */
export async function loadAdapter(spec: string): Promise<ProtocolAdapter> {
  const { adapter, layers } = checkSpec(spec);
  return applyLayers(await adapters.load(adapter), await Promise.all(layers.map(loadLayer)));
}

/** An adapter and the layers around it, innermost first, as in `msgpack+zstd+ed25519`. */
interface AdapterSpec {
  readonly adapter: string;
  readonly layers: readonly string[];
}

const STAGES = [...new Set(layerNames.map(findStage))];
const ORDER = `ADAPTER, then at most one layer of each stage in the order ${STAGES.join(', ')}`;

/**
 * Parses a specification and checks that its names exist and stand in order, as {@link loadAdapter} does. It
 * loads nothing.
 *
 * @throws MeshError `usage` with the right order and the known names
 */
export function checkSpec(spec: string): AdapterSpec {
  const [adapter = '', ...layers] = spec.split('+');
  if (!adapterNames.includes(adapter)) {
    if (layerNames.includes(adapter)) {
      throw new MeshError(
        'usage',
        `"${spec}": ${adapter} is a layer: write ${ORDER}; adapters: ${adapterNames.join(', ')}`,
      );
    }
    throw createUnknownError('adapter', adapter, adapterNames);
  }
  let outermost = -1;
  for (const [index, layer] of layers.entries()) {
    if (adapterNames.includes(layer)) {
      throw new MeshError(
        'usage',
        `"${spec}": ${layer} is an adapter, and ${adapter} is one: write ${ORDER}; layers: ${layerNames.join(', ')}`,
      );
    }
    const stage = STAGES.indexOf(findStage(layer));
    if (stage <= outermost) {
      const before = layers[index - 1];
      throw new MeshError(
        'usage',
        `"${spec}": ${layer} (${STAGES[stage]}) cannot follow ${before} (${STAGES[outermost]}): write ${ORDER}; layers: ${layerNames.join(', ')}`,
      );
    }
    outermost = stage;
  }
  return { adapter, layers };
}
