import type { ProtocolAdapter } from '../core/contracts/adapter.ts';
import { registry } from '../core/contracts/registry.ts';
import { layerNamed } from './layers/registry.ts';
import { parseSpec, type StackSpec } from './layers/spec.ts';
import { stackOf } from './layers/stack.ts';

const adapters = registry<ProtocolAdapter>('adapter', {
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

/** Without layers; those are in `layers/registry.ts`. */
export const adapterNames = adapters.names;

/** Makes an adapter of the user's known by its name. */
export const addAdapter = (adapter: ProtocolAdapter): void => adapters.add(adapter.name, adapter);

/**
 * The adapter that `spec` names, with the layers that it names: `json`, `msgpack+zstd+ed25519`.
 *
 * @throws MeshError `usage` for names that nothing has, and for layers in the wrong order
 */
export async function adapterNamed(spec: string): Promise<ProtocolAdapter> {
  const { adapter, layers } = checkSpec(spec);
  return stackOf(await adapters.load(adapter), await Promise.all(layers.map(layerNamed)));
}

/** As {@link adapterNamed} judges it, and loads nothing. */
export function checkSpec(spec: string): StackSpec {
  return parseSpec(spec, adapters.names);
}
